// What is a lock, what takes it and what gives it back: the standard library, pthreads, and every
// class and function that carries Clang's capability attributes. What is a guard is in
// guard_classes.cpp.
#include <array>

#include "clang/unit.h"
#include "core/any_object.h"

namespace tomos::cpp {

using clang::CXXMethodDecl;
using clang::CXXRecordDecl;
using clang::Expr;
using clang::FunctionDecl;
using clang::QualType;
using clang::RecordDecl;

// Wrapped temporaries, casts, std::move and address-of: the same object.
const Expr* core_of(const Expr* of) {
  while (true) {
    const Expr* inner = of->IgnoreParenCasts();
    if (const auto* full = llvm::dyn_cast<clang::FullExpr>(inner)) inner = full->getSubExpr();
    if (const auto* made = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(inner)) {
      inner = made->getSubExpr();
    }
    if (const auto* bound = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(inner)) {
      inner = bound->getSubExpr();
    }
    if (const auto* fallback = llvm::dyn_cast<clang::CXXDefaultArgExpr>(inner)) {
      inner = fallback->getExpr();
    }
    if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(inner)) {
      if (unary->getOpcode() == clang::UO_AddrOf || unary->getOpcode() == clang::UO_Deref) {
        inner = unary->getSubExpr();
      }
    }
    if (inner == of) return of;
    of = inner;
  }
}

bool changes_locks(const clang::Stmt* of) {
  if (of == nullptr) return false;
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(of)) {
    const FunctionDecl* callee = call->getDirectCallee();
    if (callee != nullptr && (callee->hasAttr<clang::AcquireCapabilityAttr>() ||
                              callee->hasAttr<clang::ReleaseCapabilityAttr>() ||
                              plain_name(*callee).contains_insensitive("lock"))) {
      return true;
    }
  }
  return std::ranges::any_of(of->children(), changes_locks);
}

std::optional<LockPath> Unit::field_path(const Expr* base, const clang::FieldDecl& field,
                                         const Scope& scope) {
  auto inner = path(base, scope);
  if (!inner || inner->type.name == "int") return std::nullopt;
  // What a lock class wraps is that lock.
  const auto* owner = llvm::dyn_cast<CXXRecordDecl>(field.getParent());
  if (owner != nullptr && is_lock_class(*owner)) return inner;
  const QualType type = field.getType();
  const bool by_value = !type->isPointerType() && !type->isReferenceType();
  const RecordDecl* record = type->getAsRecordDecl();
  const bool fixed = type.isConstQualified() || type->isReferenceType() ||
                     (by_value && (lock_type(type) || (record != nullptr && owns_locks(*record))));
  if (type_of(context.getRecordType(field.getParent())).name == "int") return std::nullopt;
  inner->stable &= fixed;
  inner->fields.push_back(field_name(field));
  inner->type = field_type(field);  // nothing leads on where the core does not look
  return inner;
}

std::optional<LockPath> Unit::path(const Expr* of, const Scope& scope) {
  if (scope.is_nowhere) return std::nullopt;
  of = core_of(of);
  // A guard that is made has no name.
  const bool is_made = scope.outer != nullptr && scope.object == nullptr &&
                       llvm::isa_and_nonnull<clang::CXXConstructorDecl>(scope.callee);
  if (llvm::isa<clang::CXXThisExpr>(of)) {
    if (is_made) return std::nullopt;
    if (scope.object != nullptr && scope.outer != nullptr) {
      return path(scope.object, *scope.outer);
    }
    return LockPath{.root = "this", .fields = {}, .type = type_of(of->getType())};
  }
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(of)) {
    if (const auto* field = llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl())) {
      if (is_made && llvm::isa<clang::CXXThisExpr>(member->getBase()->IgnoreParenImpCasts())) {
        return initial_path(*field, scope);
      }
      return field_path(member->getBase(), *field, scope);
    }
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(member->getMemberDecl())) {
      declare_global(*variable);
      return LockPath{
          .root = global_name(*variable), .fields = {}, .type = type_of(variable->getType())};
    }
    return std::nullopt;
  }
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(of)) {
    if (const auto* field = llvm::dyn_cast<clang::FieldDecl>(reference->getDecl())) {
      // &Class::m in an attribute: that of any object.
      if (reference->hasQualifier()) {
        const core::LockId any =
            core::of_any(program.locks, class_name(*field->getParent()), field_name(*field));
        return LockPath{
            .root = program.locks[any].name, .fields = {}, .type = type_of(field->getType())};
      }
      // In C an attribute names a field like this.
      return LockPath{
          .root = "this", .fields = {field_name(*field)}, .type = type_of(field->getType())};
    }
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
    if (variable == nullptr) return std::nullopt;
    const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(variable);
    if (parameter != nullptr && scope.callee != nullptr && scope.outer != nullptr) {
      const unsigned index = parameter->getFunctionScopeIndex();
      if (index >= scope.arguments.size()) return std::nullopt;
      return path(scope.arguments[index], *scope.outer);
    }
    if (variable->hasGlobalStorage()) {
      const RecordDecl* record = object_type(variable->getType())->getAsRecordDecl();
      const bool fixed =
          variable->getType().isConstQualified() || variable->getType()->isReferenceType() ||
          (!variable->getType()->isPointerType() &&
           (lock_type(variable->getType()) || (record != nullptr && owns_locks(*record))));
      declare_global(*variable);
      return LockPath{.root = global_name(*variable),
                      .fields = {},
                      .type = type_of(variable->getType()),
                      .stable = fixed};
    }
    std::optional<std::string> name;
    if (scope.variables != nullptr) {
      name = (*scope.variables)(*variable);
    } else if (parameter != nullptr) {
      name = parameter->getNameAsString();
    }
    if (!name) return std::nullopt;
    return LockPath{.root = *name, .fields = {}, .type = type_of(variable->getType())};
  }
  if (const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(of)) {
    const auto op = call->getOperator();
    if ((op == clang::OO_Arrow || op == clang::OO_Star) && call->getNumArgs() >= 1) {
      return path(call->getArg(0), scope);  // a smart pointer
    }
    return std::nullopt;
  }
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(of)) {
    const FunctionDecl* callee = call->getDirectCallee();
    if (callee == nullptr) return std::nullopt;
    const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(call);
    const auto* method = llvm::dyn_cast<CXXMethodDecl>(callee);
    const bool of_pointer = method != nullptr && is_pointer_class(*method->getParent());
    if ((is_of_std(*callee) || of_pointer) && callee->getDeclName().isIdentifier()) {
      const llvm::StringRef name = plain_name(*callee);
      if (member != nullptr && (name == "get" || name == "value" || name == "mutex")) {
        return path(member->getImplicitObjectArgument(), scope);
      }
      if (call->getNumArgs() == 1 && (name == "move" || name == "forward" || name == "ref")) {
        return path(call->getArg(0), scope);
      }
    }
    const std::vector<const Expr*> arguments(call->arg_begin(), call->arg_end());
    return accessor_path(
        *callee, {.outer = &scope,
                  .callee = callee,
                  .object = member != nullptr ? member->getImplicitObjectArgument() : nullptr,
                  .arguments = arguments});
  }
  return std::nullopt;
}

// What a function returns that says so (lock_returned), or does nothing else.
std::optional<LockPath> Unit::accessor_path(const FunctionDecl& function, const Scope& scope) {
  if (accessor_depth_ > 4) return std::nullopt;
  ++accessor_depth_;
  std::optional<LockPath> found;
  if (const auto* returned = function.getAttr<clang::LockReturnedAttr>()) {
    found = path(returned->getArg(), scope);
  } else if (const FunctionDecl* definition = function.getDefinition();
             definition != nullptr && !is_foreign(function)) {
    const auto* body = llvm::dyn_cast_or_null<clang::CompoundStmt>(definition->getBody());
    const QualType type = function.getReturnType();
    // Before it, at most the lock itself: static Mutex& mutex = *new Mutex;
    const auto is_static = [](const clang::Stmt* of) {
      const auto* declares = llvm::dyn_cast<clang::DeclStmt>(of);
      const auto* variable = declares == nullptr || !declares->isSingleDecl()
                                 ? nullptr
                                 : llvm::dyn_cast<clang::VarDecl>(declares->getSingleDecl());
      return variable != nullptr && variable->isStaticLocal();
    };
    if (body != nullptr && !body->body_empty() &&
        std::all_of(body->body_begin(), body->body_end() - 1, is_static) &&
        (type->isReferenceType() || type->isPointerType())) {
      const auto* returns = llvm::dyn_cast<clang::ReturnStmt>(body->body_back());
      if (returns != nullptr && returns->getRetValue() != nullptr) {
        found = path(returns->getRetValue(), scope);
      }
    }
  }
  --accessor_depth_;
  return found;
}

std::optional<LockCall> Unit::attribute_call(const FunctionDecl& callee, const Scope& scope) {
  const auto locks = [&](const auto& arguments) {
    std::vector<LockPath> found;
    for (const Expr* argument : arguments) {
      if (const auto lock = path(argument, scope)) found.push_back(*lock);
    }
    if (arguments.begin() == arguments.end() && scope.object != nullptr) {
      if (const auto lock = path(scope.object, *scope.outer)) found.push_back(*lock);
    }
    return found;
  };
  if (const auto* taken = callee.getAttr<clang::AcquireCapabilityAttr>()) {
    return LockCall{.kind = LockCall::Kind::kLock,
                    .locks = locks(taken->args()),
                    .is_shared = taken->isShared()};
  }
  if (const auto* left = callee.getAttr<clang::ReleaseCapabilityAttr>()) {
    return LockCall{.kind = LockCall::Kind::kUnlock, .locks = locks(left->args())};
  }
  // The older names are attributes of their own.
  const auto tried = [&](const auto* by, bool is_shared) -> std::optional<LockCall> {
    if (by == nullptr) return std::nullopt;
    const Expr* success = by->getSuccessValue()->IgnoreParenImpCasts();
    const auto* flag = llvm::dyn_cast<clang::CXXBoolLiteralExpr>(success);
    const auto* number = llvm::dyn_cast<clang::IntegerLiteral>(success);
    const bool yes = flag != nullptr     ? flag->getValue()
                     : number != nullptr ? number->getValue().getBoolValue()
                                         : true;
    return LockCall{.kind = LockCall::Kind::kTryLock,
                    .locks = locks(by->args()),
                    .true_is_held = yes,
                    .is_shared = is_shared};
  };
  const auto* tries = callee.getAttr<clang::TryAcquireCapabilityAttr>();
  if (auto made = tried(tries, tries != nullptr && tries->isShared())) return made;
  if (auto made = tried(callee.getAttr<clang::ExclusiveTrylockFunctionAttr>(), false)) return made;
  if (auto made = tried(callee.getAttr<clang::SharedTrylockFunctionAttr>(), true)) return made;
  const auto asserted = [&](const auto* by) -> std::optional<LockCall> {
    if (by == nullptr) return std::nullopt;
    return LockCall{.kind = LockCall::Kind::kAssertHeld, .locks = locks(by->args())};
  };
  if (auto made = asserted(callee.getAttr<clang::AssertCapabilityAttr>())) return made;
  if (auto made = asserted(callee.getAttr<clang::AssertExclusiveLockAttr>())) return made;
  return asserted(callee.getAttr<clang::AssertSharedLockAttr>());
}

std::optional<LockCall> Unit::pthread_call(llvm::StringRef name, const clang::CallExpr& call,
                                           const Scope& scope) {
  std::optional<LockCall::Kind> kind;
  bool true_is_held = true;
  unsigned argument = 0;
  if (is_one_of(name, {"pthread_mutex_lock", "pthread_rwlock_wrlock", "pthread_rwlock_rdlock",
                       "pthread_spin_lock", "mtx_lock"})) {
    kind = LockCall::Kind::kLock;
  } else if (is_one_of(name, {"pthread_mutex_unlock", "pthread_rwlock_unlock",
                              "pthread_spin_unlock", "mtx_unlock"})) {
    kind = LockCall::Kind::kUnlock;
  } else if (is_one_of(name, {"pthread_mutex_trylock", "pthread_mutex_timedlock",
                              "pthread_rwlock_trywrlock", "pthread_rwlock_tryrdlock",
                              "pthread_spin_trylock", "mtx_trylock", "mtx_timedlock"})) {
    kind = LockCall::Kind::kTryLock;
    true_is_held = false;
  } else if (is_one_of(name, {"pthread_cond_wait", "pthread_cond_timedwait", "cnd_wait",
                              "cnd_timedwait"})) {
    kind = LockCall::Kind::kWait;
    argument = 1;
  }
  if (!kind || call.getNumArgs() <= argument) return std::nullopt;
  LockCall made = {
      .kind = *kind, .true_is_held = true_is_held, .is_shared = name.contains("rdlock")};
  if (const auto lock = path(call.getArg(argument), scope)) made.locks.push_back(*lock);
  return made;
}

std::optional<LockCall> Unit::lock_call(const clang::CallExpr& call, const Scope& scope) {
  const FunctionDecl* callee = call.getDirectCallee();
  if (callee == nullptr) return std::nullopt;
  const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(&call);
  const Expr* object = member == nullptr ? nullptr : member->getImplicitObjectArgument();
  const std::vector<const Expr*> arguments(call.arg_begin(), call.arg_end());
  const bool named = callee->getDeclName().isIdentifier();
  const llvm::StringRef name = plain_name(*callee);
  const auto* method = llvm::dyn_cast<CXXMethodDecl>(callee);

  // A guard that is told to: its locks are known to whoever follows the guard.
  if (method != nullptr && object != nullptr && is_guard_class(*method->getParent())) {
    const clang::VarDecl* guard = guard_in(object);
    const bool gives = callee->hasAttr<clang::ReleaseCapabilityAttr>() ||
                       is_one_of(name, {"unlock", "Unlock", "release", "Release", "unlock_shared"});
    const bool takes = callee->hasAttr<clang::AcquireCapabilityAttr>() ||
                       is_one_of(name, {"lock", "Lock", "lock_shared"});
    const bool asks =
        is_one_of(name, {"try_lock", "try_lock_for", "try_lock_until", "owns_lock"}) ||
        llvm::isa<clang::CXXConversionDecl>(callee);
    // By another name.
    const FunctionDecl* definition = gives || takes || asks ? nullptr : callee->getDefinition();
    const bool gives_inside =
        definition != nullptr && !is_of_std(*callee) && has_unlock(definition->getBody());
    std::optional<LockCall::Kind> kind;
    if (gives || gives_inside) {
      kind = LockCall::Kind::kUnlock;
    } else if (asks) {
      kind = LockCall::Kind::kTryLock;
    } else if (takes || name.starts_with("lock_")) {
      kind = LockCall::Kind::kLock;
    }
    if (!kind) return std::nullopt;
    return LockCall{.kind = *kind, .guard = guard};
  }
  const Scope inside = {
      .outer = &scope, .callee = callee, .object = object, .arguments = arguments};
  if (auto made = attribute_call(*callee, inside)) return made;
  if (method == nullptr && named && name.contains_insensitive("assert") &&
      name.contains_insensitive("held") && !name.contains_insensitive("not")) {
    LockCall made = {.kind = LockCall::Kind::kAssertHeld};
    for (const Expr* argument : arguments) {
      if (!lock_type(argument->getType())) continue;
      if (const auto lock = path(argument, scope)) made.locks.push_back(*lock);
    }
    if (!made.locks.empty()) return made;
  }
  if (method == nullptr && named) return pthread_call(name, call, scope);
  if (method == nullptr || object == nullptr) return std::nullopt;

  if (is_lock_class(*method->getParent())) {
    std::optional<LockCall::Kind> kind;
    if (is_one_of(name, {"lock", "Lock", "lock_shared", "ReaderLock", "WriterLock"})) {
      kind = LockCall::Kind::kLock;
    } else if (is_one_of(name,
                         {"unlock", "Unlock", "unlock_shared", "ReaderUnlock", "WriterUnlock"})) {
      kind = LockCall::Kind::kUnlock;
    } else if (is_one_of(name, {"try_lock", "TryLock", "try_lock_for", "try_lock_until",
                                "try_lock_shared", "tryLock"})) {
      kind = LockCall::Kind::kTryLock;
    } else if (is_one_of(name, {"AssertHeld", "assert_held"})) {
      kind = LockCall::Kind::kAssertHeld;
    } else if (is_one_of(name, {"Await", "AwaitWithTimeout", "AwaitWithDeadline"})) {
      kind = LockCall::Kind::kWait;
    }
    if (!kind) return std::nullopt;
    LockCall made = {.kind = *kind, .is_shared = takes_as_reader(*callee)};
    if (const auto lock = path(object, scope)) made.locks.push_back(*lock);
    return made;
  }
  // Condition variables: the first argument is the lock, or the guard that holds it.
  const bool condition =
      llvm::StringRef(method->getParent()->getNameAsString()).contains_insensitive("cond") ||
      is_condition_class(*method->getParent());
  if (condition && llvm::StringRef(name).contains_insensitive("wait") && !arguments.empty()) {
    LockCall made = {.kind = LockCall::Kind::kWait, .guard = guard_in(arguments[0])};
    if (made.guard != nullptr) return made;
    const bool is_lock = lock_type(arguments[0]->getType()).has_value();
    if (is_lock) {
      if (const auto lock = path(arguments[0], scope)) made.locks.push_back(*lock);
    }
    // Whatever it waits with, it asks its predicate here.
    if (is_lock || is_of_std(*method)) return made;
  }
  return std::nullopt;
}

}  // namespace tomos::cpp
