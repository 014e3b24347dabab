// Iterators: what is changed behind one changes the container that it leads into. Which container
// that is, is known of those that are used where they are got, and of local variables.
#include <algorithm>

#include "clang/body.h"
#include "clang/places.h"

namespace tomos::cpp {

using clang::Expr;
using clang::VarDecl;

namespace {

constexpr std::size_t kMostBehind = 3;

}  // namespace

bool is_iterator(clang::QualType type) {
  const clang::CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  if (record == nullptr || !record->getDeclName().isIdentifier()) return false;
  const std::string name = record->getNameAsString();
  return name.find("iterator") != std::string::npos || name.find("Iterator") != std::string::npos;
}

bool is_arrow_of_class(const clang::MemberExpr& of) {
  const auto* call =
      llvm::dyn_cast<clang::CXXOperatorCallExpr>(of.getBase()->IgnoreParenImpCasts());
  return of.isArrow() && call != nullptr && call->getOperator() == clang::OO_Arrow;
}

// None: it is not known, or not a place that can be named again.
std::vector<const Expr*> Body::containers_of(const Expr* iterator) const {
  const Expr* of = iterator->IgnoreImplicit()->IgnoreParenCasts()->IgnoreImplicit();
  if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(of)) {
    if (made->getNumArgs() == 1) return containers_of(made->getArg(0));
    return {};
  }
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(of)) {
    const auto known = iterators_.find(llvm::dyn_cast<VarDecl>(reference->getDecl()));
    if (known != iterators_.end()) return known->second;
    return {};
  }
  if (!is_iterator(of->getType())) return {};
  if (const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(of)) {
    const Expr* object = call->getImplicitObjectArgument()->IgnoreParenImpCasts();
    if (is_iterator(object->getType())) return containers_of(object);
    const clang::CXXMethodDecl* method = call->getMethodDecl();
    const bool is_known = method != nullptr && unit_.is_foreign(*method->getParent()) &&
                          !object->getType()->isPointerType() && is_place(object);
    return is_known ? std::vector{object} : std::vector<const Expr*>{};
  }
  // An algorithm, or a step on.
  const auto* call = llvm::dyn_cast<clang::CallExpr>(of);
  if (call != nullptr && call->getNumArgs() > 0) return containers_of(call->getArg(0));
  return {};
}

void Body::remember_iterator(const VarDecl& variable, const Expr* value) {
  if (variable.hasGlobalStorage() || !is_iterator(variable.getType())) return;
  const auto profile = [&](const Expr* of) {
    llvm::FoldingSetNodeID id;
    of->Profile(id, unit_.context, true);
    return id;
  };
  for (const Expr* container : containers_of(value)) {
    std::vector<const Expr*>& known = iterators_[&variable];
    const auto is_same = [&](const Expr* one) { return profile(one) == profile(container); };
    if (std::ranges::none_of(known, is_same)) known.push_back(container);
  }
}

// The change of what is behind an iterator. Its container may be behind another one, or, in a walk
// down a tree, behind itself.
core::ExprId Body::change_behind(const Expr& iterator) {
  if (behind_ == kMostBehind) return core::kNoExpr;
  std::vector<core::ExprId> changes;
  ++behind_;
  ++renaming_;
  for (const Expr* container : containers_of(&iterator)) {
    changes.push_back(expr(container, Use::kChange).id);
  }
  --renaming_;
  --behind_;
  return sequence(std::move(changes), iterator.getExprLoc());
}

}  // namespace tomos::cpp
