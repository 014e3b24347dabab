#include "accesses/lock_names.h"

#include <clang/AST/Attr.h>
#include <clang/AST/Stmt.h>

#include <algorithm>

namespace accesses {

using clang::Expr;
using clang::FunctionDecl;
using clang::QualType;

namespace {

constexpr int kMostFields = 12;  // of a lock without attributes
constexpr int kMostCalls = 4;    // of functions that only return a lock, one by the other

QualType led_to(QualType type) {
  while (type->isReferenceType() || type->isPointerType() || type->isArrayType()) {
    const auto* array = type->getAsArrayTypeUnsafe();
    type = array != nullptr ? array->getElementType() : type->getPointeeType();
  }
  return type;
}

bool calls_unlock(const clang::Stmt* of) {
  if (of == nullptr) return false;
  const auto* call = llvm::dyn_cast<clang::CallExpr>(of);
  const FunctionDecl* callee = call == nullptr ? nullptr : call->getDirectCallee();
  return (callee != nullptr &&
          llvm::StringRef(callee->getNameAsString()).contains_insensitive("unlock")) ||
         (callee != nullptr && callee->hasAttr<clang::ReleaseCapabilityAttr>()) ||
         std::ranges::any_of(of->children(), calls_unlock);
}

}  // namespace

const Expr* object_of(const Expr* of) {
  while (true) {
    const Expr* inner = of->IgnoreParenCasts()->IgnoreImplicit();
    if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(inner)) {
      const bool leads =
          unary->getOpcode() == clang::UO_AddrOf || unary->getOpcode() == clang::UO_Deref;
      if (leads) inner = unary->getSubExpr();
    } else if (const auto* fallback = llvm::dyn_cast<clang::CXXDefaultArgExpr>(inner)) {
      inner = fallback->getExpr();
    }
    if (inner == of) return of;
    of = inner;
  }
}

const clang::VarDecl* variable_of(const Expr* of) {
  const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(of->IgnoreParenCasts());
  const auto* variable =
      reference == nullptr ? nullptr : llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
  const bool is_name = variable != nullptr && !llvm::isa<clang::ParmVarDecl>(variable) &&
                       variable->getType()->isReferenceType() && variable->hasInit();
  const clang::VarDecl* other = is_name ? variable_of(variable->getInit()) : nullptr;
  return other != nullptr ? other : variable;
}

const Expr* only_result(const FunctionDecl& function) {
  const FunctionDecl* definition = function.getDefinition();
  const auto* body = definition == nullptr
                         ? nullptr
                         : llvm::dyn_cast_or_null<clang::CompoundStmt>(definition->getBody());
  if (body == nullptr || body->body_empty()) return nullptr;
  const auto* returns = llvm::dyn_cast<clang::ReturnStmt>(body->body_back());
  const bool is_all = std::all_of(body->body_begin(), body->body_end() - 1,
                                  [](const auto* one) { return llvm::isa<clang::DeclStmt>(one); });
  return returns == nullptr || !is_all ? nullptr : returns->getRetValue();
}

bool is_called(const FunctionDecl& function, std::initializer_list<llvm::StringRef> names) {
  return function.getDeclName().isIdentifier() &&
         std::ranges::find(names, function.getName()) != names.end();
}

bool is_of_std(const FunctionDecl& function) {
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&function);
  return method != nullptr ? method->getParent()->isInStdNamespace() : function.isInStdNamespace();
}

std::string tag_of(const Expr& argument) {
  const auto* record = argument.getType().getNonReferenceType()->getAsCXXRecordDecl();
  return record != nullptr && record->isInStdNamespace() ? record->getNameAsString() : "";
}

bool LockNames::is_lock(QualType type) {
  type = led_to(type);
  const std::string text = type.getUnqualifiedType().getAsString();
  const auto* record = type->getAsRecordDecl();
  return text.starts_with("pthread_mutex") || text.starts_with("pthread_rwlock") ||
         text.starts_with("pthread_spin") || text == "mtx_t" ||
         (record != nullptr && is_lock(*record));
}

bool LockNames::is_guard(QualType type) {
  const auto* record = led_to(type)->getAsRecordDecl();
  return record != nullptr && is_guard(*record);
}

bool LockNames::is_lock(const clang::RecordDecl& of) {
  const auto [at, is_new] = locks_.try_emplace(&of);
  if (!is_new) return at->second;
  if (of.hasAttr<clang::CapabilityAttr>()) return locks_[&of] = true;
  const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(&of);
  if (record == nullptr || !record->hasDefinition() || is_guard(of)) return false;
  record = record->getDefinition();
  const std::string name = record->getNameAsString();
  if (record->isInStdNamespace()) return locks_[&of] = name.ends_with("mutex");
  bool takes = false;
  bool gives = false;
  for (const clang::CXXMethodDecl* method : record->methods()) {
    if (method->getNumParams() > 0) continue;
    takes |= is_called(*method, {"lock", "Lock"});
    gives |= is_called(*method, {"unlock", "Unlock"});
  }
  const bool is_by_base =
      record->field_empty() && std::ranges::any_of(record->bases(), [&](const auto& base) {
        const auto* above = base.getType()->getAsCXXRecordDecl();
        return above != nullptr && is_lock(*above);
      });
  // One that can be locked may also be a wallet.
  const bool is_small = std::distance(record->field_begin(), record->field_end()) <= kMostFields;
  return locks_[&of] = is_by_base || (takes && gives && is_small);
}

bool LockNames::is_guard(const clang::RecordDecl& of) {
  const auto [at, is_new] = guards_.try_emplace(&of);
  if (!is_new) return at->second;
  const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(&of);
  if (record == nullptr || !record->hasDefinition() || record->isLambda()) return false;
  record = record->getDefinition();
  if (record->hasAttr<clang::ScopedLockableAttr>()) return guards_[&of] = true;
  if (record->isInStdNamespace()) {
    const std::string name = record->getNameAsString();
    return guards_[&of] = name == "lock_guard" || name == "unique_lock" || name == "scoped_lock" ||
                          name == "shared_lock";
  }
  const clang::CXXDestructorDecl* destructor = record->getDestructor();
  if (destructor == nullptr) return false;
  const FunctionDecl* ends = destructor->getDefinition();
  const bool gives = destructor->hasAttr<clang::ReleaseCapabilityAttr>() ||
                     destructor->hasAttr<clang::AcquireCapabilityAttr>() ||
                     (ends != nullptr && calls_unlock(ends->getBody()));
  const bool by_constructor =
      std::ranges::any_of(record->ctors(), [&](const clang::CXXConstructorDecl* made) {
        return made->getNumParams() > 0 && !made->isCopyOrMoveConstructor() &&
               is_lock(made->getParamDecl(0)->getType());
      });
  const bool is_by_base =
      record->field_empty() && std::ranges::any_of(record->bases(), [&](const auto& base) {
        const auto* above = base.getType()->getAsCXXRecordDecl();
        return above != nullptr && is_guard(*above);
      });
  return guards_[&of] = (gives && by_constructor) || is_by_base;
}

std::string LockNames::of(const Expr* lock, const Pointees& pointees, const Inside* inside) {
  if (lock == nullptr) return {};
  lock = object_of(lock);
  if (llvm::isa<clang::CXXThisExpr>(lock)) {
    return inside == nullptr ? "this" : of(inside->object, pointees);
  }
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(lock)) {
    // What a lock wraps is that lock.
    const auto* field = llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl());
    const Expr* base = object_of(member->getBase());
    const bool wraps = field != nullptr && is_lock(*field->getParent()) &&
                       (inside != nullptr || !llvm::isa<clang::CXXThisExpr>(base));
    return wraps ? of(base, pointees, inside) : member->getMemberDecl()->getNameAsString();
  }
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(lock)) {
    if (const auto* part = llvm::dyn_cast<clang::BindingDecl>(reference->getDecl());
        part != nullptr && part->getBinding() != nullptr) {
      return of(part->getBinding(), pointees, inside);
    }
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
    const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(reference->getDecl());
    if (parameter != nullptr && inside != nullptr) {
      const unsigned index = parameter->getFunctionScopeIndex();
      return index < inside->arguments.size() ? of(inside->arguments[index], pointees) : "";
    }
    const auto known = pointees.find(variable);
    if (known != pointees.end()) return known->second;
    const bool is_name = variable != nullptr && parameter == nullptr && variable->hasInit() &&
                         variable->getType()->isReferenceType();
    const std::string other = is_name ? of(variable->getInit(), pointees, inside) : "";
    return other.empty() ? reference->getDecl()->getNameAsString() : other;
  }
  if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(lock)) {
    return of(element->getBase(), pointees, inside);
  }
  if (const auto* by_operator = llvm::dyn_cast<clang::CXXOperatorCallExpr>(lock)) {
    return of(by_operator->getArg(0), pointees, inside);
  }
  const auto* call = llvm::dyn_cast<clang::CallExpr>(lock);
  const FunctionDecl* callee = call == nullptr ? nullptr : call->getDirectCallee();
  if (callee == nullptr || depth_ > kMostCalls) return {};
  const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(call);
  const Expr* object = member == nullptr ? nullptr : member->getImplicitObjectArgument();
  if (is_of_std(*callee)) {
    if (object != nullptr) return of(object, pointees, inside);
    return call->getNumArgs() == 1 ? of(call->getArg(0), pointees, inside) : "";
  }
  ++depth_;
  const std::vector<const Expr*> arguments(call->arg_begin(), call->arg_end());
  const Inside there = {.object = object, .arguments = arguments};
  const auto* returned = callee->getAttr<clang::LockReturnedAttr>();
  std::string name =
      of(returned != nullptr ? returned->getArg() : only_result(*callee), pointees, &there);
  --depth_;
  return name.empty() && callee->getDeclName().isIdentifier() ? callee->getNameAsString() : name;
}

}  // namespace accesses
