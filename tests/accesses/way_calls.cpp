// What calls do to locks, and what a function learns from them where it asks whether a lock is
// held.
#include <algorithm>
#include <utility>

#include "accesses/way_walker.h"

namespace accesses {

using clang::Expr;
using clang::FunctionDecl;
using clang::Stmt;
using clang::VarDecl;

void WayWalker::call(const clang::CallExpr& of) {
  const FunctionDecl* callee = of.getDirectCallee();
  const std::vector<const Expr*> arguments(of.arg_begin(), of.arg_end());
  if (callee == nullptr) return pass(nullptr, arguments);
  if (const Expr* from = moved_from(&of)) {
    const GuardKey key = guard_in(from);
    if (key == nullptr) return;
    GuardState& guard = way_.guards[key];
    guard.was_held = std::exchange(guard.held, false);
    return;
  }
  note_given_away(of, *callee);
  if (guard_call(of, *callee) || lock_call(of, *callee)) return;
  const bool is_on_object = llvm::isa<clang::CXXOperatorCallExpr>(of) &&
                            llvm::isa<clang::CXXMethodDecl>(callee) && !arguments.empty();
  const auto rest = llvm::ArrayRef(arguments).drop_front(is_on_object ? 1 : 0);
  pass(callee, rest);
  apply(*callee, rest);
}

bool WayWalker::lock_call(const clang::CallExpr& of, const FunctionDecl& callee) {
  const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(&of);
  const Expr* object = member == nullptr ? nullptr : member->getImplicitObjectArgument();
  const std::vector<const Expr*> arguments(of.arg_begin(), of.arg_end());
  const LockNames::Inside inside = {.object = object, .arguments = arguments};
  const auto each = [&](const auto& locks, const auto& does) {
    for (const Expr* lock : locks) does(known_.names.of(lock, way_.pointees, &inside));
    if (locks.begin() == locks.end()) does(name_of(object));
  };
  const auto* taken = callee.getAttr<clang::AcquireCapabilityAttr>();
  const auto* given = callee.getAttr<clang::ReleaseCapabilityAttr>();
  if (given != nullptr) each(given->args(), [&](const std::string& lock) { give(lock); });
  if (taken != nullptr) each(taken->args(), [&](const std::string& lock) { take(lock); });
  if (taken != nullptr || given != nullptr) {
    pass(&callee, arguments);
    return true;
  }
  if (callee.hasAttr<clang::TryAcquireCapabilityAttr>()) return true;
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&callee);
  if (method == nullptr) {
    if (is_of_std(callee) && is_called(callee, {"lock"})) {
      for (const Expr* argument : arguments) {
        const GuardKey guard = guard_in(argument);
        if (guard != nullptr) way_.guards[guard].held = !way_.guards[guard].loose;
        if (guard == nullptr) take(name_of(argument));
      }
      return true;
    }
    if (arguments.empty()) return false;
    if (is_called(callee, {"pthread_mutex_lock", "pthread_rwlock_wrlock", "pthread_rwlock_rdlock",
                           "pthread_spin_lock", "mtx_lock"})) {
      take(name_of(arguments[0]));
      return true;
    }
    const bool gives = is_called(callee, {"pthread_mutex_unlock", "pthread_rwlock_unlock",
                                          "pthread_spin_unlock", "mtx_unlock"});
    if (gives) give(name_of(arguments[0]));
    return gives;
  }
  if (object != nullptr && known_.names.is_lock(*method->getParent())) {
    if (is_called(callee, {"lock", "Lock", "lock_shared", "ReaderLock", "WriterLock"})) {
      take(name_of(object));
    } else if (is_called(callee,
                         {"unlock", "Unlock", "unlock_shared", "ReaderUnlock", "WriterUnlock"})) {
      give(name_of(object));
    }
    return true;
  }
  // A condition variable, which holds the lock of the guard when it comes back: one that says so by
  // its name, or one is told by it when to go on.
  const auto& owner = *method->getParent();
  const auto tells = [](const clang::CXXMethodDecl* one) {
    const std::string name = one->getNameAsString();
    return name.starts_with("notify") || name.starts_with("signal") || name.starts_with("Signal");
  };
  return llvm::StringRef(callee.getNameAsString()).contains_insensitive("wait") &&
         (llvm::StringRef(owner.getNameAsString()).contains_insensitive("cond") ||
          std::ranges::any_of(owner.methods(), tells));
}

// What a function of the project does to locks, beyond what it says.
void WayWalker::apply(const FunctionDecl& callee, llvm::ArrayRef<const Expr*> arguments) {
  const Effects effects = effects_of(known_, callee);
  const auto here = [&](const std::string& lock) {
    for (unsigned i = 0; i < callee.getNumParams() && i < arguments.size(); ++i) {
      if (callee.getParamDecl(i)->getNameAsString() == lock) return name_of(arguments[i]);
    }
    return lock;
  };
  for (const VarDecl* guard : guards_captured(callee)) {
    const auto at = way_.guards.find(guard);
    if (at != way_.guards.end() && !effects.kept.contains(guard)) at->second.held = false;
  }
  for (const std::string& lock : effects.drops) give(here(lock));
  for (const std::string& lock : effects.leaves) take(here(lock));
}

std::optional<Asked> WayWalker::asked(const Expr* condition) {
  condition = condition->IgnoreParenCasts()->IgnoreImplicit()->IgnoreParenCasts();
  const auto negated = [](std::optional<Asked> test) {
    if (test) test->if_true = !test->if_true;
    return test;
  };
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(condition)) {
    return unary->getOpcode() == clang::UO_LNot ? negated(asked(unary->getSubExpr()))
                                                : std::nullopt;
  }
  if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(condition)) {
    Expr::EvalResult right;
    if (!binary->isEqualityOp() || binary->isValueDependent() ||
        !binary->getRHS()->EvaluateAsInt(right, known_.context)) {
      return std::nullopt;
    }
    const bool is_same = right.Val.getInt().getBoolValue() == (binary->getOpcode() == clang::BO_EQ);
    return is_same ? asked(binary->getLHS()) : negated(asked(binary->getLHS()));
  }
  if (const VarDecl* variable = variable_of(condition)) {
    const auto known = way_.answers.find(variable);
    return known == way_.answers.end() ? std::nullopt : std::optional(known->second);
  }
  const auto* call = llvm::dyn_cast<clang::CallExpr>(condition);
  const FunctionDecl* callee = call == nullptr ? nullptr : call->getDirectCallee();
  if (callee == nullptr) return std::nullopt;
  if (is_called(*callee, {"__builtin_expect"})) return asked(call->getArg(0));
  const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(call);
  const Expr* object = member == nullptr ? nullptr : member->getImplicitObjectArgument();
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(callee);
  const bool tries = is_called(*callee, {"try_lock", "TryLock", "try_lock_for", "try_lock_until",
                                         "try_lock_shared", "tryLock"});
  if (method != nullptr && object != nullptr && known_.names.is_guard(*method->getParent())) {
    const GuardKey guard = guard_in(object);
    const bool asks =
        tries || is_called(*callee, {"owns_lock"}) || llvm::isa<clang::CXXConversionDecl>(callee);
    return guard != nullptr && asks ? std::optional(Asked{.guard = guard}) : std::nullopt;
  }
  Asked made;
  if (const auto* attribute = callee->getAttr<clang::TryAcquireCapabilityAttr>()) {
    const std::vector<const Expr*> arguments(call->arg_begin(), call->arg_end());
    const LockNames::Inside inside = {.object = object, .arguments = arguments};
    for (const Expr* lock : attribute->args()) {
      made.locks.insert(known_.names.of(lock, way_.pointees, &inside));
    }
    if (attribute->args_size() == 0) made.locks.insert(name_of(object));
    Expr::EvalResult success;
    made.if_true = !attribute->getSuccessValue()->EvaluateAsInt(success, known_.context) ||
                   success.Val.getInt().getBoolValue();
  } else if (tries && object != nullptr && known_.names.is_lock(*method->getParent())) {
    made.locks.insert(name_of(object));
  } else if (is_called(*callee, {"pthread_mutex_trylock", "pthread_mutex_timedlock",
                                 "pthread_rwlock_trywrlock", "pthread_rwlock_tryrdlock",
                                 "pthread_spin_trylock", "mtx_trylock", "mtx_timedlock"})) {
    made.locks.insert(name_of(call->getArg(0)));
    made.if_true = false;
  }
  made.locks.erase("");
  return made.locks.empty() ? std::nullopt : std::optional(made);
}

void WayWalker::answer(const Asked& asked, bool is_true) {
  const bool holds = is_true == asked.if_true;
  for (const std::string& lock : asked.locks) {
    if (holds) way_.taken[lock] = std::max(1, way_.taken[lock]);
  }
  const auto guard = way_.guards.find(asked.guard);
  if (guard != way_.guards.end()) guard->second.held = holds && !guard->second.loose;
}

}  // namespace accesses
