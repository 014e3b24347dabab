// Lock expressions, and calls that take locks or give them back.
#include <algorithm>

#include "clang/body.h"

namespace tomos::cpp {

using clang::Expr;
using clang::SourceLocation;
using clang::VarDecl;
using core::ExprId;
using Kind = core::Expr::Kind;

// Lock expressions.

ExprId Body::lock_expr(const LockPath& path, SourceLocation at) {
  ExprId made = name(path.root, at);
  for (const std::string& field : path.fields) made = make(Kind::kField, at, {made}, field);
  return made;
}

// What an expression of an attribute or an accessor stands for at the call.
const Expr* Body::as_written(const Expr* lock, const Scope& in) {
  while (true) {
    const Expr* inner = lock->IgnoreParenCasts()->IgnoreImplicit()->IgnoreParenCasts();
    if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(inner)) {
      if (unary->getOpcode() == clang::UO_AddrOf || unary->getOpcode() == clang::UO_Deref) {
        inner = unary->getSubExpr();
      }
    } else if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(inner)) {
      const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(reference->getDecl());
      if (parameter != nullptr && in.callee != nullptr && in.outer != nullptr &&
          parameter->getFunctionScopeIndex() < in.arguments.size()) {
        return as_written(in.arguments[parameter->getFunctionScopeIndex()], *in.outer);
      }
    } else if (const auto* call = llvm::dyn_cast<clang::CallExpr>(inner)) {
      const clang::FunctionDecl* callee = call->getDirectCallee();
      if (callee != nullptr && callee->hasAttr<clang::LockReturnedAttr>() &&
          call->getNumArgs() == 1 && !llvm::isa<clang::CXXMethodDecl>(callee)) {
        inner = call->getArg(0);
      }
    }
    if (inner == lock) return lock;
    lock = inner;
  }
}

const Body::Named* Body::named(const Expr* object) const {
  if (state_.objects.empty()) return nullptr;
  llvm::FoldingSetNodeID expression;
  object->IgnoreParenImpCasts()->Profile(expression, unit_.context, true);
  const auto at = std::ranges::find(state_.objects, expression, &Named::expression);
  return at == state_.objects.end() ? nullptr : &*at;
}

void Body::forget_objects(const VarDecl& variable) {
  std::erase_if(state_.objects,
                [&](const Named& object) { return object.variables.contains(&variable); });
}

// What a guard says that its lock is: guard.mutex(), guard.release().
std::optional<LockPath> Body::told_by_guard(const Expr* lock) const {
  const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(core_of(lock));
  const clang::CXXMethodDecl* method = call == nullptr ? nullptr : call->getMethodDecl();
  if (method == nullptr || !is_one_of(plain_name(*method), {"mutex", "release"})) {
    return std::nullopt;
  }
  const auto guard = state_.guards.find(unit_.guard_in(call->getImplicitObjectArgument()));
  if (guard == state_.guards.end() || guard->second.locks.size() != 1) return std::nullopt;
  return guard->second.locks[0];
}

// A lock that has no path from a variable, but is a part of an object: the object gets a name.
std::optional<LockPath> Body::path_of(const Expr* lock, const Scope& in, SourceLocation at) {
  if (auto known = unit_.path(lock, in)) return known;
  if (auto told = told_by_guard(lock)) return told;
  const auto* part = llvm::dyn_cast<clang::MemberExpr>(as_written(lock, in));
  const auto* field =
      part == nullptr ? nullptr : llvm::dyn_cast<clang::FieldDecl>(part->getMemberDecl());
  if (field == nullptr || wraps_ > kMaxWraps || unit_.is_foreign(*field)) return std::nullopt;
  const core::Type type = unit_.type_of(unit_.context.getRecordType(field->getParent()));
  const core::Type mutex = unit_.type_of(field->getType());
  if (is_value(type) || (mutex.name != "mutex" && mutex.name != "recursive_mutex")) {
    return std::nullopt;
  }
  const Expr* object_of = part->getBase()->IgnoreParenImpCasts();
  const Named* known = named(object_of);
  if (known == nullptr) {
    Named made = {.name = fresh("object"), .type = type, .block = blocks_.size()};
    object_of->Profile(made.expression, unit_.context, true);
    variables_in(object_of, made.variables);
    const Value value = expr(object_of, Use::kRead);
    wrap({.kind = Kind::kLet,
          .position = unit_.position(at),
          .name = made.name,
          .children = {coerce(value, type, at)},
          .type = type});
    state_.objects.push_back(std::move(made));
    known = &state_.objects.back();
  }
  if (known->type != type) return std::nullopt;
  return LockPath{.root = known->name, .fields = {unit_.field_name(*field)}, .type = mutex};
}

// A lock that may be another one when it is named again gets a variable.
LockPath Body::settled(LockPath path, SourceLocation at) {
  if (path.stable || wraps_ > kMaxWraps) return path;
  for (const auto& [known, variable] : state_.bound) {
    if (known == path) return {.root = variable, .fields = {}, .type = path.type};
  }
  const std::string name = fresh("lock");
  const ExprId value = lock_expr(path, at);
  wrap({.kind = Kind::kLet,
        .position = unit_.position(at),
        .name = name,
        .children = {value},
        .type = path.type});
  state_.bound.emplace_back(path, name);
  return {.root = name, .fields = {}, .type = path.type};
}

ExprId Body::taking(Kind kind, const LockPath& lock, SourceLocation at, bool is_shared) {
  const ExprId on = lock_expr(lock, at);
  return program_.add(
      {.kind = kind, .position = unit_.position(at), .children = {on}, .is_shared = is_shared});
}

void Body::lock_step(Kind kind, const LockPath& path, SourceLocation at, bool is_shared) {
  const LockPath lock = settled(path, at);
  const ExprId made = taking(kind, lock, at, is_shared);
  if (kind == Kind::kUnlock) {
    std::erase_if(state_.tries, [&](const auto& one) {
      return std::ranges::any_of(one.second.call.locks, [&](const LockPath& tried) {
        return !tried.stable || !path.stable || tried == path;
      });
    });
  }
  if (conditional_ > 0) {  // in an operand that may not be evaluated
    emit(make(Kind::kIf, at, {constant("\"?\"", at), made, make(Kind::kSequence, at, {})}));
    return;
  }
  emit(made);
  if (kind == Kind::kLock) taken_.push_back(lock);
}

// Of some lock that may be held: by a guard that is a field, say.
void Body::given_back_unseen(SourceLocation at) {
  emit(step("(unlock)", core::Basic::kCompound, at));
}

void Body::change_guard(const VarDecl& variable, LockCall::Kind kind, bool gives_up,
                        SourceLocation at) {
  const auto found = state_.guards.find(&variable);
  if (found == state_.guards.end() && kind == LockCall::Kind::kUnlock) given_back_unseen(at);
  if (found == state_.guards.end() || found->second.by_block) return;
  Guard& guard = found->second;
  const auto now = [&](Held held) { guard.held = conditional_ > 0 ? Held::kMaybe : held; };
  if (kind == LockCall::Kind::kUnlock) {
    std::erase_if(state_.tries,
                  [&](const auto& one) { return one.second.call.guard == &variable; });
    if (!gives_up && guard.held != Held::kNo) {
      for (const LockPath& lock : guard.locks) lock_step(Kind::kUnlock, lock, at);
    }
    now(Held::kNo);
  } else if (kind == LockCall::Kind::kLock) {
    for (const LockPath& lock : guard.locks) lock_step(Kind::kLock, lock, at, guard.is_shared);
    now(Held::kYes);
  }
}

// What is asserted, the caller sees to.
void Body::assert_held(const std::vector<LockPath>& locks) {
  core::Method& method = unit_.method_at(home_);
  if (blocks_.size() > 1 || method.is_given) return;
  for (const LockPath& lock : locks) {
    const bool caller_knows =
        lock.stable && (lock.root == "this" || lock.root.find("::") != std::string::npos ||
                        std::ranges::find(method.parameters, lock.root, &core::Parameter::name) !=
                            method.parameters.end());
    const bool taken = std::ranges::find(taken_, lock) != taken_.end();
    if (!caller_knows || taken) continue;
    const core::LockId id = unit_.lock_id(lock);
    if (std::ranges::find(method.requires_held, id) == method.requires_held.end()) {
      method.requires_held.push_back(id);
    }
  }
}

// A function that takes or gives back a lock and may do more: its declaration in the core says the
// first, its body the rest. Which lock must be plain without its arguments.
bool Body::is_more_than_lock(const clang::FunctionDecl& callee, const LockCall& does) {
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&callee);
  const bool takes = does.kind == LockCall::Kind::kLock;
  if ((!takes && does.kind != LockCall::Kind::kUnlock) || does.is_shared || does.guard != nullptr ||
      unit_.is_foreign(callee) ||
      (method != nullptr &&
       (unit_.is_lock_class(*method->getParent()) || unit_.is_guard_class(*method->getParent())))) {
    return false;
  }
  std::set<const VarDecl*> named;
  std::size_t count = 0;
  const auto note = [&](const auto& locks) {
    for (const Expr* lock : locks) {
      variables_in(lock, named);
      ++count;
    }
  };
  if (const auto* taken = callee.getAttr<clang::AcquireCapabilityAttr>()) note(taken->args());
  if (const auto* left = callee.getAttr<clang::ReleaseCapabilityAttr>()) note(left->args());
  const auto is_parameter = [](const VarDecl* of) { return llvm::isa<clang::ParmVarDecl>(of); };
  if (count == 0 || std::ranges::any_of(named, is_parameter)) return false;
  const core::Method& known = unit_.method_at(unit_.declare(callee));
  return count == known.acquires.size() + known.releases.size();
}

// A variable that says whether a lock could be taken says it no longer, or of another one.
void Body::ask_again(const Expr& place, const Expr* value) {
  const VarDecl* variable = variable_in(&place);
  if (variable == nullptr) return;
  const auto result = value == nullptr || conditional_ > 0 ? std::nullopt : tried(value);
  const auto asked = state_.tries.find(variable);
  if (asked != state_.tries.end()) {  // it may be held, then
    lock_step(Kind::kTryLock, asked->second.call.locks[0], place.getExprLoc());
    state_.tries.erase(variable);
  }
  if (result) state_.tries.emplace(variable, *result);
}

// True: the call was one that locks, unlocks or waits, and is done.
bool Body::lock_effect(const clang::CallExpr& call) {
  if (guard_exchanged(call)) return true;
  const clang::FunctionDecl* called = call.getDirectCallee();
  if (called != nullptr && is_of_std(*called) && plain_name(*called) == "lock" &&
      !llvm::isa<clang::CXXMethodDecl>(called)) {  // several at once
    for (const Expr* argument : call.arguments()) {
      const VarDecl* variable_of = variable_in(argument);
      if (variable_of != nullptr && state_.guards.contains(variable_of)) {
        change_guard(*variable_of, LockCall::Kind::kLock, false, call.getBeginLoc());
      } else if (const auto lock = unit_.path(argument, scope())) {
        lock_step(Kind::kLock, *lock, call.getBeginLoc());
      }
    }
    return true;
  }
  auto does = unit_.lock_call(call, scope());
  if (!does) return false;
  const SourceLocation at = call.getBeginLoc();
  if (is_more_than_lock(*called, *does)) {
    for (const LockPath& lock : does->locks) {
      if (does->kind == LockCall::Kind::kLock) taken_.push_back(settled(lock, at));
    }
    return false;
  }
  if (const auto* by_name = llvm::dyn_cast<clang::CXXMemberCallExpr>(&call);
      by_name != nullptr && !unit_.lock_type(by_name->getObjectType())) {
    emit(way_to(*by_name->getImplicitObjectArgument()));
  }
  use_others(*called, {call.getArgs(), call.getNumArgs()});
  if (does->kind == LockCall::Kind::kLock || does->kind == LockCall::Kind::kUnlock) {
    // A lock that is told by its guard: mutex.unlock(guard).
    for (const Expr* argument : call.arguments()) {
      const VarDecl* guard = unit_.guard_in(argument);
      if (guard != nullptr && state_.guards.contains(guard)) does->guard = guard;
    }
  }
  if (does->locks.empty() && does->guard == nullptr) {
    // A lock in an object that has no name yet.
    std::vector<const Expr*> places(call.arg_begin(), call.arg_end());
    if (const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(&call)) {
      places.push_back(member->getImplicitObjectArgument());
    }
    for (const Expr* place : places) {
      if (!unit_.lock_type(place->getType())) continue;
      if (auto lock = path_of(place, scope(), at)) does->locks.push_back(std::move(*lock));
    }
  }
  switch (does->kind) {
    case LockCall::Kind::kLock:
    case LockCall::Kind::kUnlock: {
      const clang::FunctionDecl& callee = *call.getDirectCallee();
      const bool gives_up = is_of_std(callee) && callee.getDeclName().isIdentifier() &&
                            plain_name(callee) == "release";
      if (does->guard != nullptr) {
        change_guard(*does->guard, does->kind, gives_up, at);
        return true;
      }
      if (does->locks.empty() && does->kind == LockCall::Kind::kUnlock) given_back_unseen(at);
      for (const LockPath& lock : does->locks) {
        const bool takes = does->kind == LockCall::Kind::kLock;
        lock_step(takes ? Kind::kLock : Kind::kUnlock, lock, at, takes && does->is_shared);
      }
      return true;
    }
    case LockCall::Kind::kTryLock:
      // Where its result decides, `branch` has seen to it.
      for (const LockPath& lock : does->locks) {
        lock_step(Kind::kTryLock, lock, at, does->is_shared);
      }
      return true;
    case LockCall::Kind::kAssertHeld:
      assert_held(does->locks);
      return true;
    case LockCall::Kind::kWait: {
      std::vector<LockPath> locks = does->locks;
      bool known = !locks.empty();
      if (does->guard != nullptr) {
        const auto guard = state_.guards.find(does->guard);
        known = guard != state_.guards.end() && guard->second.held == Held::kYes;
        if (known) locks = guard->second.locks;
      }
      if (known && !locks.empty()) {
        for (const LockPath& lock : locks) lock_step(Kind::kWait, lock, at);
      } else {
        emit(step("(wait)", core::Basic::kCompound, at));
      }
      for (const Expr* argument : call.arguments()) emit(callback(argument, {}, Runs::kOften));
      return true;
    }
  }
  return false;
}

}  // namespace tomos::cpp
