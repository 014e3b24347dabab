// Local variables, RAII guards and calls that lock: what is held, and by whom.
#include "clang/body.h"

namespace tomos::cpp {

using clang::Expr;
using clang::SourceLocation;
using clang::Stmt;
using clang::VarDecl;
using core::ExprId;
using Kind = core::Expr::Kind;

namespace {

std::string tag_of(const Expr* argument) {
  const clang::RecordDecl* record = argument->getType().getNonReferenceType()->getAsRecordDecl();
  if (record == nullptr || !is_of_std(*record)) return {};
  return record->getNameAsString();
}

// Whether a pointer or reference to it is to a part of something, or to one of two things: it is
// not followed, so whoever may change what is behind it changes that something.
bool is_untold_part(const Expr* of, bool is_address) {
  of = of->IgnoreParenCasts();
  if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(of)) {
    const auto is_address_of = [](const Expr* one) {
      const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(one->IgnoreParenCasts());
      return unary != nullptr && unary->getOpcode() == clang::UO_AddrOf;
    };
    return !is_address ||
           (is_address_of(choice->getTrueExpr()) && is_address_of(choice->getFalseExpr()));
  }
  if (is_address) {
    const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(of);
    if (unary == nullptr || unary->getOpcode() != clang::UO_AddrOf) return false;
    of = unary->getSubExpr()->IgnoreParenCasts();
  }
  const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(of);
  return call != nullptr && call->getOperator() == clang::OO_Subscript;
}

bool may_change_behind(clang::QualType type) {
  return (type->isPointerType() || type->isReferenceType()) &&
         !type->getPointeeType().isConstQualified();
}

// A guard that is only for Clang's checker to see: nobody waits for what it says to acquire, so it
// is a promise (that all this runs in one thread, say) and may be given again inside.
bool does_nothing(const clang::CXXConstructorDecl& constructor) {
  const auto* definition =
      llvm::dyn_cast_or_null<clang::CXXConstructorDecl>(constructor.getDefinition());
  if (definition == nullptr || definition->getNumCtorInitializers() > 0) return false;
  const auto* body = llvm::dyn_cast_or_null<clang::CompoundStmt>(definition->getBody());
  return body != nullptr && body->body_empty();
}

}  // namespace

bool is_place(const Expr* of) {
  of = of->IgnoreParenCasts();
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(of)) {
    return is_place(member->getBase());
  }
  if (const auto* at = llvm::dyn_cast<clang::ArraySubscriptExpr>(of))
    return is_place(at->getBase());
  if (const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(of)) {
    const auto op = call->getOperator();
    return (op == clang::OO_Subscript || op == clang::OO_Arrow || op == clang::OO_Star) &&
           is_place(call->getArg(0));
  }
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(of)) {
    return unary->getOpcode() == clang::UO_Deref && is_place(unary->getSubExpr());
  }
  if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(of)) {
    return is_place(choice->getTrueExpr()) && is_place(choice->getFalseExpr());
  }
  return llvm::isa<clang::DeclRefExpr>(of) || llvm::isa<clang::CXXThisExpr>(of);
}

const clang::CXXConstructExpr* construction_of(const Expr* init) {
  if (init == nullptr) return nullptr;
  const Expr* inner = init->IgnoreImplicit()->IgnoreParenCasts()->IgnoreImplicit();
  if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(inner)) {
    if (list->getNumInits() == 1) return construction_of(list->getInit(0));
  }
  return llvm::dyn_cast<clang::CXXConstructExpr>(inner);
}

void Body::declaration(const VarDecl& variable) {
  const SourceLocation at = variable.getLocation();
  const Expr* init = variable.getInit();
  if (variable.hasGlobalStorage()) {
    unit_.declare_global(variable);
    if (init == nullptr) return;
    if (variable.getType().isConstQualified() && variable.hasConstantInitialization()) {
      initial_lambdas(*init);
    } else {
      effect(init);
    }
    return;
  }
  if (const auto* cleanup = variable.getAttr<clang::CleanupAttr>()) {
    if (plain_name(*cleanup->getFunctionDecl()) == "tomos_end_atomic_") {
      wrap({.kind = Kind::kExpect,
            .position = unit_.position(at),
            .expected = program_.add(core::Term{.basic = core::Basic::kAtomic})});
      return;
    }
  }
  const clang::RecordDecl* record = variable.getType()->getAsRecordDecl();
  if (record != nullptr && unit_.is_guard_class(*record)) {
    declare_guard(variable, init);
    return;
  }
  if (init != nullptr) {
    const clang::LambdaExpr* lambda = lambda_in(init);
    if (lambda != nullptr && !variable.getType()->isPointerType()) {
      emit(made_with(init));
      lambdas_[&variable] = lambda;
      return;
    }
    if (const auto result = tried(init)) {
      try_results_.emplace(&variable, *result);
      return;
    }
  }
  const core::Type type = unit_.type_of(variable.getType());
  if (type.name == "int" || type.name == "void") {
    if (init == nullptr) return;
    remember_iterator(variable, init);
    const bool refers = variable.getType()->isReferenceType();
    if (refers && is_place(init)) {
      places_[&variable] = init;
      effect(init, Use::kName);
    } else if (address_in(init) != nullptr && may_change_behind(variable.getType())) {
      effect(init, Use::kChange);  // what is done through it is not followed
    } else {
      effect(init);
    }
    return;
  }
  Value value;
  if (init != nullptr) {
    const bool refers = variable.getType()->isReferenceType();
    const bool changes = may_change_behind(variable.getType()) && is_untold_part(init, !refers);
    const bool is_alias = refers && is_pointer_itself(variable.getType()) && is_place(init);
    value = expr(init, changes ? Use::kChange : refers && !is_alias ? Use::kName : Use::kRead);
    if (is_alias && !variable.getType()->getPointeeType().isConstQualified()) {
      pointers_[&variable] = init;
    }
  }
  const bool by_value = !variable.getType()->isReferenceType() && record != nullptr &&
                        !unit_.is_foreign(*record) && !Unit::is_pointer_class(*record);
  ExprId made = coerce(value, type, at);
  if (by_value && (value.id == core::kNoExpr || program_[made].kind == Kind::kNull)) {
    made = program_.add({.kind = Kind::kNew, .position = unit_.position(at), .type = type});
    if (type.name == "mutex" || type.name == "recursive_mutex") made = null(at);
  }
  state_.variables[&variable] = {.name = "x", .type = type, .is_object = by_value};
  bind(variable, made, at);
  if (!by_value) return;
  const auto* of_class = llvm::dyn_cast<clang::CXXRecordDecl>(record);
  const clang::CXXDestructorDecl* ends = of_class == nullptr ? nullptr : of_class->getDestructor();
  if (ends != nullptr && ends->isUserProvided() && !unit_.is_lock_class(*record)) {
    unit_.declare(*ends);
    blocks_.back().objects.push_back(&variable);
  }
}

// Whether anything but a wait uses the guard after it was made.
bool Body::is_told(const VarDecl& guard, const Stmt* in) const {
  if (in == nullptr) return false;
  const auto is_guard = [&](const Expr* of) {
    const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(of->IgnoreParenCasts());
    return reference != nullptr && reference->getDecl() == &guard;
  };
  if (const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(in)) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (callee != nullptr && is_guard(call->getImplicitObjectArgument()) &&
        callee->getDeclName().isIdentifier() && plain_name(*callee) != "owns_lock" &&
        plain_name(*callee) != "mutex") {
      return true;
    }
  } else if (const auto* moves = llvm::dyn_cast<clang::CallExpr>(in)) {
    const clang::FunctionDecl* callee = moves->getDirectCallee();
    if (callee != nullptr && is_of_std(*callee) && callee->getDeclName().isIdentifier() &&
        (plain_name(*callee) == "move" || plain_name(*callee) == "swap") &&
        std::ranges::any_of(moves->arguments(), is_guard)) {
      return true;
    }
  } else if (const auto* returns = llvm::dyn_cast<clang::ReturnStmt>(in)) {
    if (returns->getRetValue() != nullptr && is_guard(returns->getRetValue()->IgnoreImplicit())) {
      return true;
    }
  }
  return std::ranges::any_of(in->children(),
                             [&](const Stmt* child) { return is_told(guard, child); });
}

// What is given to a guard or a lock beside locks and what runs with them: a time to wait, say.
void Body::use_others(const clang::FunctionDecl& callee, llvm::ArrayRef<const Expr*> arguments) {
  for (unsigned i = 0; i < arguments.size() && i < callee.getNumParams(); ++i) {
    const clang::RecordDecl* record = arguments[i]->getType()->getAsRecordDecl();
    const bool is_guard = record != nullptr && unit_.is_guard_class(*record);
    const bool runs = lambda_in(arguments[i]) != nullptr || function_in(arguments[i]) != nullptr;
    if (is_guard || runs || unit_.lock_type(arguments[i]->getType())) continue;
    emit(argument_value(*arguments[i], use_for(callee, i)).id);
  }
}

// Which locks a guard is made for, and whether it holds them now.
void Body::guard_locks(const clang::CXXConstructExpr& made, Guard& guard, SourceLocation at) {
  const clang::CXXConstructorDecl& constructor = *made.getConstructor();
  const std::vector<const Expr*> arguments(made.arg_begin(), made.arg_end());
  const Scope outer = scope();
  const Scope inside = {.outer = &outer, .callee = &constructor, .arguments = arguments};
  const auto add = [&](const std::optional<LockPath>& lock) {
    if (lock) guard.locks.push_back(settled(*lock, at));
  };
  if (constructor.isCopyOrMoveConstructor() && !arguments.empty()) {
    // What another guard held is now this one's.
    const auto lock = arguments[0]->IgnoreParenCasts();
    const auto* call = llvm::dyn_cast<clang::CallExpr>(lock);
    const Expr* from = call != nullptr && call->getNumArgs() == 1 ? call->getArg(0) : lock;
    const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(from->IgnoreParenCasts());
    const auto* other =
        reference == nullptr ? nullptr : llvm::dyn_cast<VarDecl>(reference->getDecl());
    const auto known = state_.guards.find(other);
    if (known == state_.guards.end()) return;
    guard = known->second;
    known->second.held = Held::kNo;
    known->second.tried = false;
    return;
  }
  guard.is_shared = Unit::is_reader_guard(constructor);
  use_others(constructor, arguments);
  bool attributed = false;
  const auto add_all = [&](const auto& locks) {
    attributed = true;
    for (const Expr* lock : locks) add(path_of(lock, inside, at));
  };
  if (const auto* taken = constructor.getAttr<clang::AcquireCapabilityAttr>()) {
    add_all(taken->args());
    if (does_nothing(constructor)) {
      assert_held(std::exchange(guard.locks, {}));
    } else {
      guard.held = Held::kYes;
    }
  } else if (const auto* held = constructor.getAttr<clang::RequiresCapabilityAttr>()) {
    add_all(held->args());
    guard.held = Held::kMaybe;  // as with adopt_lock: see below
  } else if (const auto* left = constructor.getAttr<clang::ReleaseCapabilityAttr>()) {
    add_all(left->args());
    guard.inverted = true;
  } else if (const auto* later = constructor.getAttr<clang::LocksExcludedAttr>()) {
    add_all(later->args());
  } else if (const auto* tries = constructor.getAttr<clang::TryAcquireCapabilityAttr>()) {
    add_all(tries->args());
    guard.tried = true;
  }
  if (attributed) return;
  guard.held = Held::kYes;
  for (const Expr* argument : arguments) {
    const std::string tag = tag_of(argument);
    if (tag == "defer_lock_t") {
      guard.held = Held::kNo;
    } else if (tag == "try_to_lock_t" || tag == "duration" || tag == "time_point") {
      guard.held = Held::kNo;
      guard.tried = true;
    } else if (tag == "adopt_lock_t") {
      guard.held = Held::kMaybe;
    } else if (unit_.lock_type(argument->getType())) {
      auto lock = path_of(argument, outer, at);
      if (!lock) {
        const core::Type type = unit_.type_of(argument->getType());
        const Value value = expr(argument, Use::kName);
        const std::string name = fresh("lock");
        wrap({.kind = Kind::kLet,
              .position = unit_.position(at),
              .name = name,
              .children = {coerce({.id = value.id, .type = value.type}, type, at)},
              .type = type});
        lock = LockPath{.root = name, .fields = {}, .type = type};
      }
      add(lock);
    }
  }
  if (guard.locks.empty()) guard.held = Held::kNo;
}

// A guard that a function returns: one that says what it acquires, or does nothing but make it.
void Body::handed_out(const Expr* init, Guard& guard, SourceLocation at) {
  const auto* call = llvm::dyn_cast<clang::CallExpr>(init->IgnoreImplicit()->IgnoreParenCasts());
  const clang::FunctionDecl* callee = call == nullptr ? nullptr : call->getDirectCallee();
  effect(init);
  if (callee == nullptr) return;
  const auto* method_call = llvm::dyn_cast<clang::CXXMemberCallExpr>(call);
  const std::vector<const Expr*> arguments(call->arg_begin(), call->arg_end());
  const Scope outer = scope();
  const Scope inside = {
      .outer = &outer,
      .callee = callee,
      .object = method_call != nullptr ? method_call->getImplicitObjectArgument() : nullptr,
      .arguments = arguments};
  std::vector<LockPath> locks;
  if (const auto* taken = callee->getAttr<clang::AcquireCapabilityAttr>()) {
    for (const Expr* lock : taken->args()) {
      if (auto known = unit_.path(lock, inside)) locks.push_back(std::move(*known));
    }
    guard.is_shared = taken->isShared();
  } else if (const clang::FunctionDecl* definition = callee->getDefinition();
             definition != nullptr && definition->hasBody()) {
    const auto* body = llvm::dyn_cast<clang::CompoundStmt>(definition->getBody());
    const auto* returns = body != nullptr && body->size() == 1
                              ? llvm::dyn_cast<clang::ReturnStmt>(body->body_front())
                              : nullptr;
    const clang::CXXConstructExpr* made =
        returns == nullptr ? nullptr : construction_of(returns->getRetValue());
    if (made != nullptr) {
      locks = unit_.guard_paths(*made, inside);
      guard.is_shared = Unit::is_reader_guard(*made->getConstructor());
    }
  }
  for (LockPath& lock : locks) guard.locks.push_back(settled(std::move(lock), at));
  if (!guard.locks.empty()) guard.held = Held::kYes;
}

void Body::declare_guard(const VarDecl& variable, const Expr* init) {
  const SourceLocation at = variable.getLocation();
  Guard guard;
  const clang::CXXConstructExpr* made = construction_of(init);
  if (made != nullptr) {
    guard_locks(*made, guard, at);
  } else if (init != nullptr) {
    handed_out(init, guard, at);
  }
  const bool adopted = guard.held == Held::kMaybe;
  const bool moved = made != nullptr && made->getConstructor()->isCopyOrMoveConstructor();
  if (adopted) {
    // Held before: by this method, if it says so, or by its caller.
    for (const LockPath& lock : guard.locks) {
      if (std::ranges::find(taken_, lock) != taken_.end()) guard.held = Held::kYes;
    }
  }
  if (guard.held == Held::kYes && !adopted && !moved) {
    guard.by_block = !is_told(variable, function_.getBody()) && wraps_ < kMaxWraps;
    for (const LockPath& lock : guard.locks) {
      taken_.push_back(lock);
      if (guard.by_block) {
        const ExprId on = lock_expr(lock, at);
        wrap({.kind = Kind::kSync,
              .position = unit_.position(at),
              .children = {on},
              .is_shared = guard.is_shared});
      } else {
        lock_step(Kind::kLock, lock, at, guard.is_shared);
      }
    }
  }
  if (guard.inverted) {
    for (const LockPath& lock : guard.locks) lock_step(Kind::kUnlock, lock, at);
  }
  state_.guards[&variable] = std::move(guard);
  blocks_.back().guards.push_back(&variable);
}

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

// A lock that has no path from a variable, but is a part of an object: the object gets a name.
std::optional<LockPath> Body::path_of(const Expr* lock, const Scope& in, SourceLocation at) {
  if (auto known = unit_.path(lock, in)) return known;
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
  emit(taking(kind, lock, at, is_shared));
  if (kind == Kind::kLock) taken_.push_back(lock);
}

void Body::change_guard(const VarDecl& variable, LockCall::Kind kind, bool gives_up,
                        SourceLocation at) {
  const auto found = state_.guards.find(&variable);
  if (found == state_.guards.end() || found->second.by_block) return;
  Guard& guard = found->second;
  if (kind == LockCall::Kind::kUnlock) {
    if (!gives_up && guard.held != Held::kNo) {
      for (const LockPath& lock : guard.locks) lock_step(Kind::kUnlock, lock, at);
    }
    guard.held = Held::kNo;
  } else if (kind == LockCall::Kind::kLock) {
    for (const LockPath& lock : guard.locks) lock_step(Kind::kLock, lock, at, guard.is_shared);
    guard.held = Held::kYes;
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

// True: the call was one that locks, unlocks or waits, and is done.
bool Body::lock_effect(const clang::CallExpr& call) {
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
  if (const auto* by_name = llvm::dyn_cast<clang::CXXMemberCallExpr>(&call);
      by_name != nullptr && !unit_.lock_type(by_name->getObjectType())) {
    emit(way_to(*by_name->getImplicitObjectArgument()));
  }
  use_others(*called, {call.getArgs(), call.getNumArgs()});
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
