// Forwarding references: an argument with a name becomes a `T&` there, which looks like something
// that is written. But most such functions only make something of what they are given, or keep a
// copy of it: std::make_pair, emplace_back, a project's own makeUnique. Of the project's functions
// the source tells whether that is so; of others, the name.
#include <algorithm>
#include <functional>

#include "clang/known_calls.h"
#include "clang/places.h"
#include "clang/unit.h"

namespace tomos::cpp {

using clang::Expr;
using clang::FunctionDecl;
using clang::QualType;

namespace {

constexpr unsigned kDeepest = 4;  // that hand it on to each other

// `T&&` in the template, `T&` here.
bool is_forwarding(const FunctionDecl& callee, unsigned parameter) {
  if (!callee.getParamDecl(parameter)->getType()->isLValueReferenceType()) return false;
  const FunctionDecl* pattern = callee.getTemplateInstantiationPattern();
  if (pattern == nullptr || pattern->getNumParams() == 0) return false;
  const unsigned last = pattern->getNumParams() - 1;  // where a pack is, if there is one
  QualType declared = pattern->getParamDecl(std::min(parameter, last))->getType();
  if (const auto* pack = declared->getAs<clang::PackExpansionType>()) declared = pack->getPattern();
  return declared->isRValueReferenceType();
}

bool is_made_of_references(const clang::CXXRecordDecl& record) {
  const auto* of = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(&record);
  if (of == nullptr) return false;
  const std::function<bool(const clang::TemplateArgument&)> refers =
      [&](const clang::TemplateArgument& argument) {
        if (argument.getKind() == clang::TemplateArgument::Pack) {
          return std::ranges::any_of(argument.pack_elements(), refers);
        }
        return argument.getKind() == clang::TemplateArgument::Type &&
               argument.getAsType()->isReferenceType();
      };
  return std::ranges::any_of(of->getTemplateArgs().asArray(), refers);
}

bool makes_of_foreign(const FunctionDecl& callee) {
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&callee);
  if (method != nullptr && is_made_of_references(*method->getParent())) return false;
  if (llvm::isa<clang::CXXConstructorDecl>(callee)) {
    return keeps_a_copy(method->getParent()->getNameAsString());
  }
  return makes_or_keeps(callee.getNameAsString());
}

// The variable behind casts and std::forward.
const clang::ValueDecl* named_in(const Expr* of) {
  of = of->IgnoreParenCasts();
  const auto* call = llvm::dyn_cast<clang::CallExpr>(of);
  const FunctionDecl* callee = call == nullptr ? nullptr : call->getDirectCallee();
  if (callee != nullptr && is_of_std(*callee) && call->getNumArgs() == 1 &&
      callee->getDeclName().isIdentifier() && plain_name(*callee) == "forward") {
    of = call->getArg(0)->IgnoreParenCasts();
  }
  const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(of);
  return reference == nullptr ? nullptr : reference->getDecl();
}

}  // namespace

bool Unit::is_only_read(const FunctionDecl& callee, unsigned parameter, unsigned depth) const {
  const QualType type = callee.getParamDecl(parameter)->getType();
  if (!type->isReferenceType() && !type->isPointerType()) return true;
  if (type->getPointeeType().isConstQualified()) return true;
  if (!is_forwarding(callee, parameter)) return false;
  return is_foreign(callee) ? makes_of_foreign(callee) : only_hands_on(callee, parameter, depth);
}

bool Unit::is_left_alone(const FunctionDecl& callee, unsigned parameter) const {
  const QualType type = callee.getParamDecl(parameter)->getType();
  const bool leads_to_it = type->isReferenceType() || type->isPointerType();
  return leads_to_it && !is_pointer(type->getPointeeType()) && is_only_read(callee, parameter);
}

// Whether the source shows that a parameter is only read, or given to somebody who only reads it.
bool Unit::only_hands_on(const FunctionDecl& callee, unsigned parameter, unsigned depth) const {
  const FunctionDecl* definition = callee.getDefinition();
  if (definition == nullptr || !definition->hasBody() || depth > kDeepest) return false;
  const clang::ParmVarDecl* of = definition->getParamDecl(parameter);
  bool changes = false;
  const std::function<void(const clang::Stmt*)> look = [&](const clang::Stmt* in) {
    if (in == nullptr || changes) return;
    if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(in)) {
      changes |= reference->getDecl() == of;
      return;
    }
    const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(in);
    if (cast != nullptr && cast->getCastKind() == clang::CK_LValueToRValue &&
        named_in(cast->getSubExpr()) == of) {
      return;
    }
    const FunctionDecl* inner = nullptr;
    const Expr* object = nullptr;
    llvm::SmallVector<const Expr*> arguments;
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(in)) {
      inner = call->getDirectCallee();
      arguments.append(call->arg_begin(), call->arg_end());
      const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(inner);
      if (const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(call)) {
        object = member->getImplicitObjectArgument();
      } else if (llvm::isa<clang::CXXOperatorCallExpr>(call) && method != nullptr) {
        object = arguments[0];
        arguments.erase(arguments.begin());
      }
      if (object != nullptr && named_in(object) == of) {
        changes |= method == nullptr || !method->isConst();
      } else {
        look(object != nullptr ? object : call->getCallee());
      }
    } else if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(in)) {
      inner = made->getConstructor();
      arguments.append(made->arg_begin(), made->arg_end());
    } else {
      for (const clang::Stmt* child : in->children()) look(child);
      return;
    }
    for (unsigned i = 0; i < arguments.size(); ++i) {
      if (named_in(arguments[i]) != of) {
        look(arguments[i]);
      } else {
        changes |=
            inner == nullptr || i >= inner->getNumParams() || !is_only_read(*inner, i, depth + 1);
      }
    }
  };
  if (const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(definition)) {
    for (const clang::CXXCtorInitializer* init : constructor->inits()) look(init->getInit());
  }
  look(definition->getBody());
  return !changes;
}

}  // namespace tomos::cpp
