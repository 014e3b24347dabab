// What happens to guards on the way through a function.
#include <algorithm>
#include <utility>

#include "accesses/way_walker.h"

namespace accesses {

using clang::Expr;
using clang::FunctionDecl;
using clang::Stmt;
using clang::VarDecl;

std::vector<const Stmt*> temporaries_in(const Stmt* of) {
  std::vector<const Stmt*> found;
  while (of != nullptr && !llvm::isa<clang::CallExpr>(of)) {
    if (llvm::isa<clang::CXXBindTemporaryExpr>(of)) found.push_back(of);
    of = of->child_begin() == of->child_end() ? nullptr : *of->child_begin();
  }
  return found;
}

const Expr* moved_from(const Expr* of) {
  const auto* call = llvm::dyn_cast<clang::CallExpr>(object_of(of));
  const FunctionDecl* callee = call == nullptr ? nullptr : call->getDirectCallee();
  const bool moves = callee != nullptr && is_of_std(*callee) && call->getNumArgs() == 1 &&
                     (is_called(*callee, {"move", "forward"}));
  return moves ? call->getArg(0) : nullptr;
}

void WayWalker::take(const std::string& lock) {
  if (lock.empty()) return;
  for (auto& [key, guard] : way_.guards) {
    if (guard.robbed && guard.locks == std::set<std::string>{lock}) {
      guard.robbed = false;
      guard.held = !guard.loose;
      return;
    }
  }
  ++way_.taken[lock];
  if (way_.owed.erase(lock) > 0) ++way_.retaken[lock];
}

void WayWalker::give(const std::string& lock) {
  std::erase_if(way_.answers,
                [&](const auto& one) { return lock.empty() || one.second.locks.contains(lock); });
  if (lock.empty()) way_.taken.clear();
  const auto at = way_.taken.find(lock);
  if (at != way_.taken.end()) {
    if (way_.retaken[lock] == at->second) {
      --way_.retaken[lock];
      way_.owed.insert(lock);
    }
    if (--at->second == 0) way_.taken.erase(at);
    return;
  }
  // Behind the back of whoever holds it; or it was the caller's.
  bool is_guards = false;
  for (auto& [key, guard] : way_.guards) {
    if (!guard.held || !(lock.empty() || guard.locks.contains(lock))) continue;
    guard.held = false;
    guard.robbed = true;
    is_guards = true;
  }
  if (!is_guards && !lock.empty()) way_.owed.insert(lock);
}

void WayWalker::end(GuardKey key) {
  const auto at = way_.guards.find(key);
  if (at == way_.guards.end()) return;
  if (at->second.inverted) {
    for (const std::string& lock : at->second.locks) take(lock);
  }
  way_.guards.erase(at);
}

GuardKey WayWalker::guard_in(const Expr* of) const {
  const VarDecl* variable = variable_of(object_of(of));
  return variable != nullptr && way_.guards.contains(variable) ? variable : nullptr;
}

// The guard that an initializer is, or another becomes.
std::optional<GuardState> WayWalker::guard_made(const Expr* init) {
  if (init == nullptr) return std::nullopt;
  init = object_of(init);
  if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(init)) {
    return list->getNumInits() == 1 ? guard_made(list->getInit(0)) : std::nullopt;
  }
  if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(init)) {
    return known_.names.is_guard(made->getType()) ? made_by(*made) : std::nullopt;
  }
  const auto* call = llvm::dyn_cast<clang::CallExpr>(init);
  if (call == nullptr) return std::nullopt;
  if (const Expr* from = moved_from(call)) {
    const GuardKey other = guard_in(from);
    if (other == nullptr) return std::nullopt;
    GuardState made = way_.guards[other];
    made.held = made.was_held && !made.loose;
    way_.guards[other] = {};
    return made;
  }
  return known_.names.is_guard(call->getType()) ? returned_by(*call) : std::nullopt;
}

std::optional<GuardState> WayWalker::made_by(const clang::CXXConstructExpr& made) {
  const clang::CXXConstructorDecl& constructor = *made.getConstructor();
  if (constructor.isCopyOrMoveConstructor()) {
    return made.getNumArgs() > 0 ? guard_made(made.getArg(0)) : std::nullopt;
  }
  const std::vector<const Expr*> arguments(made.arg_begin(), made.arg_end());
  const LockNames::Inside inside = {.arguments = arguments};
  GuardState guard;
  const auto add = [&](const auto& locks) {
    for (const Expr* lock : locks) {
      guard.locks.insert(known_.names.of(lock, way_.pointees, &inside));
    }
  };
  if (const auto* taken = constructor.getAttr<clang::AcquireCapabilityAttr>()) {
    add(taken->args());
    guard.held = true;
    return guard;
  }
  if (const auto* left = constructor.getAttr<clang::ReleaseCapabilityAttr>()) {
    add(left->args());
    guard.inverted = true;
    for (const std::string& lock : guard.locks) {
      guard.inverted &= way_.held().contains(lock);
      give(lock);
    }
    return guard;
  }
  if (const auto* later = constructor.getAttr<clang::LocksExcludedAttr>()) add(later->args());
  if (const auto* tries = constructor.getAttr<clang::TryAcquireCapabilityAttr>()) {
    add(tries->args());
  }
  if (!guard.locks.empty()) return guard;
  guard.held = constructor.getParent()->isInStdNamespace() ||
               !effects_of(known_, constructor).leaves.empty();
  bool adopts = false;
  for (const Expr* argument : arguments) {
    const std::string tag = tag_of(*argument);
    adopts |= tag == "adopt_lock_t";
    if (tag == "defer_lock_t" || tag == "try_to_lock_t" || tag == "duration" ||
        tag == "time_point") {
      guard.held = false;
    }
    if (known_.names.is_lock(argument->getType())) guard.locks.insert(name_of(argument));
  }
  // One that has no name.
  if (guard.locks.erase("") > 0) guard.locks.insert("lock");
  if (!adopts) return guard;
  for (const std::string& lock : guard.locks) {
    const auto at = way_.taken.find(lock);
    guard.held &= at != way_.taken.end();
    if (at != way_.taken.end() && --at->second == 0) way_.taken.erase(at);
  }
  return guard;
}

// By a function that says what it acquires, or does nothing but make the guard.
std::optional<GuardState> WayWalker::returned_by(const clang::CallExpr& call) {
  const FunctionDecl* callee = call.getDirectCallee();
  if (callee == nullptr) return std::nullopt;
  const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(&call);
  const Expr* object = member == nullptr ? nullptr : member->getImplicitObjectArgument();
  const std::vector<const Expr*> arguments(call.arg_begin(), call.arg_end());
  const LockNames::Inside inside = {.object = object, .arguments = arguments};
  GuardState guard = {.held = true};
  const auto add = [&](const Expr* lock) {
    guard.locks.insert(known_.names.of(lock, way_.pointees, &inside));
  };
  if (const auto* taken = callee->getAttr<clang::AcquireCapabilityAttr>()) {
    for (const Expr* lock : taken->args()) add(lock);
    return guard;
  }
  const Expr* returned = only_result(*callee);
  const auto* made =
      returned == nullptr ? nullptr : llvm::dyn_cast<clang::CXXConstructExpr>(object_of(returned));
  if (made == nullptr || !known_.names.is_guard(made->getType())) return std::nullopt;
  for (const Expr* argument : made->arguments()) {
    if (!tag_of(*argument).empty() && !known_.names.is_lock(argument->getType())) {
      guard.held = false;
    }
    if (known_.names.is_lock(argument->getType())) add(argument);
  }
  return guard;
}

void WayWalker::declare(const VarDecl& variable) {
  const Expr* init = variable.getInit();
  way_.answers.erase(&variable);
  if (known_.names.is_guard(variable.getType())) {
    if (variable.getType()->isReferenceType()) return;
    if (variable.getType()->isPointerType()) {
      // It is not followed.
      const VarDecl* other = init == nullptr ? nullptr : variable_of(object_of(init));
      const auto known = way_.guards.find(other);
      if (known != way_.guards.end()) known->second = {.loose = true};
      return;
    }
    GuardState& guard = way_.guards[&variable];
    guard = guard_made(init).value_or(GuardState());
    // Its lock, when it is asked for that.
    way_.pointees.erase(&variable);
    if (guard.locks.size() == 1) way_.pointees[&variable] = *guard.locks.begin();
    // What was a temporary is the variable.
    for (const Stmt* part : temporaries_in(init)) way_.guards.erase(part);
    return;
  }
  if (init == nullptr) return;
  note_opener(variable, *init);
  if (auto test = asked(init)) way_.answers[&variable] = std::move(*test);
  set_pointee(variable, init);
}

// An object that is given a guard, gives back its lock, and takes it again in the end.
void WayWalker::note_opener(const VarDecl& variable, const Expr& init) {
  const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(object_of(&init));
  const clang::CXXDestructorDecl* destructor =
      made == nullptr ? nullptr : made->getConstructor()->getParent()->getDestructor();
  const FunctionDecl* begins = made == nullptr ? nullptr : made->getConstructor()->getDefinition();
  const FunctionDecl* ends = destructor == nullptr ? nullptr : destructor->getDefinition();
  if (begins == nullptr || ends == nullptr) return;
  const auto tells = [&](const auto& self, const Stmt* of, llvm::StringRef what) -> bool {
    if (of == nullptr) return false;
    const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(of);
    const FunctionDecl* callee = call == nullptr ? nullptr : call->getDirectCallee();
    return (callee != nullptr && is_called(*callee, {what}) &&
            known_.names.is_guard(call->getObjectType())) ||
           std::ranges::any_of(of->children(),
                               [&](const Stmt* child) { return self(self, child, what); });
  };
  if (!tells(tells, begins->getBody(), "unlock") || !tells(tells, ends->getBody(), "lock")) return;
  for (const Expr* argument : made->arguments()) {
    if (const GuardKey key = guard_in(argument)) way_.openers[&variable] = key;
  }
}

// Locks are called by what a pointer to them leads to. One that leads elsewhere now names no lock
// that was called by it.
void WayWalker::set_pointee(const VarDecl& variable, const Expr* value) {
  if (!variable.getType()->isPointerType() || !known_.names.is_lock(variable.getType())) return;
  const std::string name = value == nullptr ? std::string() : name_of(value);
  const std::string own = variable.getNameAsString();
  way_.pointees.erase(&variable);
  way_.taken.erase(own);
  for (auto& [key, guard] : way_.guards) guard.locks.erase(own);
  if (!name.empty()) way_.pointees[&variable] = name;
}

// A guard that is given away and does not hold its lock yet: its new owner takes that, but the
// front end says that its caller does.
void WayWalker::note_given_away(const clang::CallExpr& of, const FunctionDecl& callee) {
  const Way before = way_;
  for (const Expr* argument : of.arguments()) {
    const Expr* from = moved_from(argument);
    if (const GuardKey key = from == nullptr ? nullptr : guard_in(from)) {
      way_.guards[key].held |= way_.guards[key].was_held;  // until somebody is made of it
    }
    for (const Stmt* part : temporaries_in(argument)) {
      const auto guard = way_.guards.find(part);
      if (guard != way_.guards.end()) guard->second.held = true;
    }
  }
  if (before == way_) return;
  note(of.getExprLoc(), callee.getNameAsString() + "()");
  way_ = before;
}

// A guard that is told to, given the lock of another, or swapped.
bool WayWalker::guard_call(const clang::CallExpr& of, const FunctionDecl& callee) {
  const auto swap = [&](GuardKey a, GuardKey b) {
    if (a != nullptr && b != nullptr) std::swap(way_.guards[a], way_.guards[b]);
    if (a == nullptr && b != nullptr) way_.guards[b] = {};
    if (b == nullptr && a != nullptr) way_.guards[a] = {};
  };
  if (is_of_std(callee) && is_called(callee, {"swap"}) && of.getNumArgs() == 2 &&
      known_.names.is_guard(of.getArg(0)->getType())) {
    swap(guard_in(of.getArg(0)), guard_in(of.getArg(1)));
    return true;
  }
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&callee);
  if (method == nullptr || !known_.names.is_guard(*method->getParent())) return false;
  if (callee.getOverloadedOperator() == clang::OO_Equal && of.getNumArgs() == 2) {
    auto made = guard_made(of.getArg(1));
    for (const Stmt* part : temporaries_in(of.getArg(1))) way_.guards.erase(part);
    const GuardKey key = guard_in(of.getArg(0));
    if (key == nullptr) return true;
    const bool loose = way_.guards[key].loose;
    way_.pointees.erase(static_cast<const VarDecl*>(key));
    way_.guards[key] = made.value_or(GuardState());
    way_.guards[key].loose |= loose;
    way_.guards[key].held &= !loose;
    return true;
  }
  const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(&of);
  const GuardKey key = member == nullptr ? nullptr : guard_in(member->getImplicitObjectArgument());
  if (key == nullptr) return true;
  if (is_called(callee, {"swap"}) && of.getNumArgs() == 1) {
    swap(key, guard_in(of.getArg(0)));
    return true;
  }
  GuardState& guard = way_.guards[key];
  const std::string name = callee.getNameAsString();
  if (is_called(callee, {"release"}) && is_of_std(callee)) {
    if (guard.held) std::ranges::for_each(guard.locks, [&](const auto& lock) { take(lock); });
    guard = {};
  } else if (callee.hasAttr<clang::AcquireCapabilityAttr>() ||
             is_called(callee, {"lock", "Lock"}) || name.starts_with("lock_")) {
    guard.held = !guard.loose;
  } else if (callee.hasAttr<clang::ReleaseCapabilityAttr>() ||
             (!method->isConst() && !llvm::isa<clang::CXXConversionDecl>(callee) &&
              !is_called(callee, {"mutex", "native_handle", "owns_lock"}))) {
    guard.held = false;  // by unlock(), or nobody knows what it does to it
  }
  return true;
}

// Guards that somebody is given, who may do anything to them.
void WayWalker::pass(const FunctionDecl* callee, llvm::ArrayRef<const Expr*> arguments) {
  for (unsigned i = 0; i < arguments.size(); ++i) {
    for (const Stmt* part : temporaries_in(arguments[i])) {
      const auto at = way_.guards.find(part);
      if (at != way_.guards.end()) at->second.held = false;
    }
    const auto* record = arguments[i]->getType().getNonReferenceType()->getAsCXXRecordDecl();
    if (record != nullptr && record->isLambda()) hand_over(*record);
    const GuardKey key = guard_in(arguments[i]);
    if (key == nullptr) continue;
    GuardState& guard = way_.guards[key];
    const bool is_known = callee != nullptr && i < callee->getNumParams();
    const clang::QualType type = is_known ? callee->getParamDecl(i)->getType() : clang::QualType();
    if (is_known && (type->isReferenceType() || type->isPointerType()) &&
        type->getPointeeType().isConstQualified()) {
      continue;
    }
    const bool keeps = callee != nullptr && llvm::isa<clang::CXXConstructorDecl>(callee);
    guard.loose |= keeps;
    guard.held &= is_known && !keeps && is_kept(*callee, i);
  }
}

// By a lambda, which may do to them what it wants.
std::vector<const VarDecl*> WayWalker::guards_captured(const FunctionDecl& by) {
  std::vector<const VarDecl*> found;
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&by);
  if (method == nullptr || !method->getParent()->isLambda()) return found;
  for (const clang::LambdaCapture& capture : method->getParent()->captures()) {
    const auto* variable =
        capture.capturesVariable() ? llvm::dyn_cast<VarDecl>(capture.getCapturedVar()) : nullptr;
    if (variable == nullptr || capture.getCaptureKind() != clang::LCK_ByRef) continue;
    if (known_.names.is_guard(variable->getType())) found.push_back(variable);
  }
  return found;
}

// A lambda that somebody has may run whenever that likes.
void WayWalker::hand_over(const clang::CXXRecordDecl& lambda) {
  const FunctionDecl* body = lambda.getLambdaCallOperator();
  const Effects effects = effects_of(known_, *body);
  for (const VarDecl* guard : guards_captured(*body)) {
    const auto at = way_.guards.find(guard);
    if (at == way_.guards.end() || effects.kept.contains(guard)) continue;
    at->second.held = false;
    at->second.loose = true;
  }
  for (const std::string& lock : effects.drops) give(lock);
}

bool WayWalker::is_kept(const FunctionDecl& callee, unsigned parameter) {
  const FunctionDecl* definition = callee.getDefinition();
  return definition != nullptr &&
         effects_of(known_, callee).kept.contains(definition->getParamDecl(parameter));
}

}  // namespace accesses
