// Local variables and RAII guards: what is held, and by whom.
#include "clang/body.h"

namespace tomos::cpp {

using clang::Expr;
using clang::SourceLocation;
using clang::Stmt;
using clang::VarDecl;
using core::ExprId;
using Kind = core::Expr::Kind;

namespace {

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

// Of an array of locks, which is no lock.
bool is_element(const Expr* of) {
  of = core_of(of);
  const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(of);
  return llvm::isa<clang::ArraySubscriptExpr>(of) ||
         (call != nullptr && call->getOperator() == clang::OO_Subscript);
}

bool is_of_this(const Expr* of) {
  of = core_of(of);
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(of)) {
    return is_of_this(member->getBase());
  }
  return llvm::isa<clang::CXXThisExpr>(of);
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
      state_.tries.insert_or_assign(&variable, *result);
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
  if (const clang::CXXConstructExpr* by = construction_of(init)) open_guards(variable, *by);
  if (ends != nullptr && ends->isUserProvided() && !unit_.is_lock_class(*record) &&
      !state_.guards.contains(&variable)) {
    unit_.declare(*ends);
    blocks_.back().locals.push_back(&variable);
  }
}

// An object that gives back the lock of a guard, and takes it again in the end.
void Body::open_guards(const VarDecl& variable, const clang::CXXConstructExpr& made) {
  const clang::FunctionDecl* begins = made.getConstructor()->getDefinition();
  if (begins == nullptr || !has_unlock(begins->getBody())) return;
  const clang::CXXDestructorDecl* destructor = made.getConstructor()->getParent()->getDestructor();
  const clang::FunctionDecl* ends = destructor == nullptr ? nullptr : destructor->getDefinition();
  const SourceLocation at = variable.getLocation();
  for (const Expr* argument : made.arguments()) {
    const VarDecl* opened = unit_.guard_in(argument);
    const auto known = state_.guards.find(opened);
    if (known == state_.guards.end() || known->second.by_block) continue;
    const bool is_held = known->second.held == Held::kYes;
    change_guard(*opened, LockCall::Kind::kUnlock, false, at);
    if (!is_held || ends == nullptr || !changes_locks(ends->getBody())) continue;
    state_.guards[&variable] = {.locks = known->second.locks,
                                .inverted = true,
                                .is_shared = known->second.is_shared,
                                .opens = opened};
    blocks_.back().locals.push_back(&variable);
  }
}

// Whether anything but a wait uses the guard after it was made, or gives it another name.
bool Body::is_told(const VarDecl& guard, const Stmt* in) const {
  if (in == nullptr) return false;
  const auto* passes = llvm::dyn_cast<clang::CallExpr>(in);
  if (passes != nullptr && is_passed_on(guard, *passes)) return true;
  const auto is_guard = [&](const Expr* of) {
    const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(of->IgnoreParenCasts());
    return reference != nullptr && reference->getDecl() == &guard;
  };
  if (const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(in)) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (std::ranges::any_of(call->arguments(), is_guard) && callee != nullptr &&
        plain_name(*callee) == "swap") {
      return true;
    }
    if (callee != nullptr && is_guard(call->getImplicitObjectArgument()) &&
        callee->getDeclName().isIdentifier() && plain_name(*callee) != "owns_lock") {
      return true;
    }
  } else if (const auto* sets = llvm::dyn_cast<clang::CXXOperatorCallExpr>(in)) {
    if (sets->getOperator() == clang::OO_Equal && is_guard(sets->getArg(0))) return true;
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
  const auto* makes = llvm::dyn_cast<clang::CXXConstructExpr>(in);
  if (makes != nullptr && !unit_.is_foreign(*makes->getConstructor()) &&
      std::ranges::any_of(makes->arguments(), is_guard)) {
    return true;
  }
  const auto* declares = llvm::dyn_cast<clang::DeclStmt>(in);
  const bool is_named =
      declares != nullptr && std::ranges::any_of(declares->decls(), [&](auto* one) {
        const auto* other = llvm::dyn_cast<VarDecl>(one);
        return other != nullptr && other != &guard && other->hasInit() &&
               unit_.guard_in(other->getInit()) == &guard;
      });
  return is_named || std::ranges::any_of(in->children(),
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
  if (constructor.isCopyOrMoveConstructor() && !arguments.empty()) {
    // What another guard held is now this one's.
    const VarDecl* other = variable_in(moved_from(arguments[0]));
    const auto known = state_.guards.find(other);
    if (known == state_.guards.end()) return;
    guard = known->second;
    known->second.held = Held::kNo;
    known->second.tried = false;
    return;
  }
  use_others(constructor, arguments);
  Unit::Taken taken = unit_.taken_by(made, outer, [&](const Expr* lock, const Scope& in) {
    const bool is_here = &in == &outer;
    auto known = is_here || !is_of_this(lock) ? path_of(lock, in, at) : unit_.path(lock, in);
    if (known || !is_here) return known;
    const core::Type type = unit_.type_of(lock->getType());
    const Value value = expr(lock, Use::kName);
    const std::string name = fresh("lock");
    wrap({.kind = Kind::kLet,
          .position = unit_.position(at),
          .name = name,
          .children = {coerce(is_element(lock) ? opaque({.name = "int"}, value.id) : value, type,
                              at)},
          .type = type});
    return std::optional(LockPath{.root = name, .fields = {}, .type = type});
  });
  for (LockPath& lock : taken.locks) guard.locks.push_back(settled(std::move(lock), at));
  guard.held = taken.held;
  guard.tried = taken.tried;
  guard.inverted = taken.inverted;
  guard.is_shared = taken.is_shared;
  if (constructor.hasAttr<clang::AcquireCapabilityAttr>() && does_nothing(constructor)) {
    assert_held(std::exchange(guard.locks, {}));
    guard.held = Held::kNo;
  }
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
  bool is_held = true;
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
      Unit::Taken holds = unit_.taken_by(
          *made, inside, [&](const Expr* one, const Scope& in) { return unit_.path(one, in); });
      locks = std::move(holds.locks);
      is_held = holds.held == Held::kYes;
      guard.is_shared = holds.is_shared;
      guard.tried = holds.tried;
    }
  }
  for (LockPath& lock : locks) guard.locks.push_back(settled(std::move(lock), at));
  if (!guard.locks.empty() && is_held) guard.held = Held::kYes;
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
    guard.by_block =
        !is_told(variable, function_.getBody()) && wraps_ < kMaxWraps && !is_left_early();
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
  blocks_.back().locals.push_back(&variable);
}

}  // namespace tomos::cpp
