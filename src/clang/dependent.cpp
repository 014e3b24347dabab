// A generic lambda that is given to a function whose source is not read (an algorithm, say) is
// never instantiated. What depends on its parameters nobody knows here; all else in it is read as
// usual, and each part of it may or may not be done.
#include "clang/body.h"
#include "clang/known_calls.h"

namespace tomos::cpp {

using clang::Expr;
using clang::SourceLocation;
using clang::Stmt;
using clang::VarDecl;
using core::ExprId;

void Body::dependent(const Stmt* of) {
  if (of == nullptr) return;
  if (depth_ > kMaxDepth) {
    emit(too_deep(of->getBeginLoc()));
    return;
  }
  ++depth_;
  const SourceLocation at = of->getBeginLoc();
  const auto each = [&](auto&& parts) {
    for (const Stmt* part : parts) dependent(part);
  };
  const auto either = [&](const Stmt* part) {
    if (part != nullptr) maybe([&] { dependent(part); }, at, of->getEndLoc());
  };
  if (const auto* value = llvm::dyn_cast<Expr>(of)) {
    emit(dependent_expr(value, Use::kRead));
  } else if (const auto* compound = llvm::dyn_cast<clang::CompoundStmt>(of)) {
    nested([&] { each(compound->body()); }, compound->getRBracLoc());
  } else if (const auto* declares = llvm::dyn_cast<clang::DeclStmt>(of)) {
    for (const clang::Decl* decl : declares->decls()) {
      const auto* variable = llvm::dyn_cast<VarDecl>(decl);
      if (variable == nullptr) continue;
      const Expr* init = variable->getInit();
      const bool is_known = !variable->getType()->isDependentType() &&
                            (init == nullptr || !init->isInstantiationDependent());
      if (is_known) {
        declaration(*variable);
      } else {
        dependent(init);
      }
    }
  } else if (const auto* tests = llvm::dyn_cast<clang::IfStmt>(of)) {
    nested(
        [&] {
          dependent(tests->getInit());
          dependent(tests->getConditionVariableDeclStmt());
          dependent(tests->getCond());
          either(tests->getThen());
          either(tests->getElse());
        },
        of->getEndLoc());
  } else if (llvm::isa<clang::ForStmt>(of) || llvm::isa<clang::WhileStmt>(of) ||
             llvm::isa<clang::DoStmt>(of) || llvm::isa<clang::CXXForRangeStmt>(of)) {
    const auto* ranges = llvm::dyn_cast<clang::CXXForRangeStmt>(of);
    if (ranges != nullptr) dependent(ranges->getRangeInit());
    const auto part = [&] {
      if (ranges != nullptr) {
        dependent(ranges->getBody());
      } else {
        each(of->children());
      }
    };
    loop(*of, nullptr, part, at);
  } else if (llvm::isa<clang::ReturnStmt>(of) || llvm::isa<clang::DeclStmt>(of)) {
    each(of->children());  // what comes after it may still be done
  } else {
    for (const Stmt* part : of->children()) either(part);
  }
  --depth_;
}

// Whoever calls by a name that is not resolved may change its object and its arguments.
ExprId Body::dependent_call(const clang::CallExpr& of) {
  std::vector<ExprId> effects;
  const auto* by_operator = llvm::dyn_cast<clang::CXXOperatorCallExpr>(&of);
  const bool only_computes = by_operator != nullptr && !by_operator->isAssignmentOp() &&
                             !is_one_of(clang::getOperatorSpelling(by_operator->getOperator()),
                                        {"++", "--", "<<", ">>", "()"});
  const Expr* callee = of.getCallee()->IgnoreParenCasts();
  const Expr* object = nullptr;
  std::string name;
  if (const auto* member = llvm::dyn_cast<clang::CXXDependentScopeMemberExpr>(callee)) {
    name = member->getMember().getAsString();
    if (!member->isImplicitAccess()) object = member->getBase();
  } else if (const auto* overloaded = llvm::dyn_cast<clang::UnresolvedMemberExpr>(callee)) {
    name = overloaded->getMemberName().getAsString();
    if (!overloaded->isImplicitAccess()) object = overloaded->getBase();
  } else if (const auto* known = llvm::dyn_cast<clang::MemberExpr>(callee)) {
    name = known->getMemberDecl()->getNameAsString();
    object = known->getBase();
  } else if (by_operator == nullptr) {
    effects.push_back(dependent_expr(callee, Use::kRead));
  }
  const bool reads = object != nullptr && (only_reads(name) || object->getType()->isPointerType());
  if (object != nullptr)
    effects.push_back(dependent_expr(object, reads ? Use::kRead : Use::kChange));
  for (const Expr* argument : of.arguments()) {
    effects.push_back(dependent_expr(argument, only_computes || reads ? Use::kRead : Use::kChange));
  }
  return sequence(std::move(effects), of.getExprLoc());
}

ExprId Body::dependent_expr(const Expr* of, Use use) {
  if (of == nullptr) return core::kNoExpr;
  if (!of->isInstantiationDependent()) return expr(of, use).id;
  if (depth_ > kMaxDepth) return too_deep(of->getExprLoc());
  ++depth_;
  const auto made = [&] {
    if (llvm::isa<clang::LambdaExpr>(of)) return callback(of, {}, Runs::kLater);
    if (const auto* brackets = llvm::dyn_cast<clang::ParenExpr>(of)) {
      return dependent_expr(brackets->getSubExpr(), use);
    }
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(of)) return dependent_call(*call);
    if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(of)) {
      const ExprId right = dependent_expr(binary->getRHS(), Use::kRead);
      const Use of_left = binary->isAssignmentOp() ? Use::kChange : Use::kRead;
      return sequence({right, dependent_expr(binary->getLHS(), of_left)}, of->getExprLoc());
    }
    Use of_parts = Use::kRead;
    if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(of)) {
      const bool changes =
          unary->isIncrementDecrementOp() || unary->getOpcode() == clang::UO_AddrOf;
      if (changes) of_parts = Use::kChange;
    } else if (llvm::isa<clang::CXXDependentScopeMemberExpr>(of) ||
               llvm::isa<clang::ArraySubscriptExpr>(of)) {
      of_parts = use;
    }
    std::vector<ExprId> effects;
    for (const Stmt* child : of->children()) {
      const auto* part = llvm::dyn_cast_or_null<Expr>(child);
      if (part != nullptr) effects.push_back(dependent_expr(part, of_parts));
    }
    return sequence(std::move(effects), of->getExprLoc());
  }();
  --depth_;
  return made;
}

}  // namespace tomos::cpp
