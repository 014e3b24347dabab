// Guards (RAII) that are passed on. A function that is given one has a parameter for its lock in
// the core: it may give that back and take it again, and what it was given by value it gives back
// in the end. That the lock is held when it is called it takes for granted. Which lock it is, seen
// from the object, the calls tell (infer/lock_parameters.h).
#include "clang/body.h"

namespace tomos::cpp {

using clang::Expr;
using clang::QualType;
using clang::SourceLocation;
using clang::VarDecl;
using core::ExprId;
using Kind = core::Expr::Kind;

namespace {

bool is_lent(QualType parameter) {
  return parameter->isLValueReferenceType() || parameter->isPointerType();
}

// A guard itself: not what a smart pointer leads to.
const clang::RecordDecl* guarded_by_type(QualType parameter) {
  if (is_lent(parameter) && parameter->getPointeeType().isConstQualified()) return nullptr;
  parameter = parameter.getNonReferenceType();
  if (parameter->isPointerType()) parameter = parameter->getPointeeType();
  return parameter->getAsRecordDecl();
}

}  // namespace

const Expr* moved_from(const Expr* of) {
  of = of->IgnoreParenCasts();
  const auto* call = llvm::dyn_cast<clang::CallExpr>(of);
  const clang::FunctionDecl* callee = call == nullptr ? nullptr : call->getDirectCallee();
  const bool moves = callee != nullptr && is_of_std(*callee) && call->getNumArgs() == 1 &&
                     (plain_name(*callee) == "move" || plain_name(*callee) == "forward");
  return moves ? call->getArg(0)->IgnoreParenCasts() : of;
}

bool Unit::is_guard_parameter(const clang::ParmVarDecl& parameter) {
  const clang::RecordDecl* record = guarded_by_type(parameter.getType());
  return record != nullptr && is_guard_class(*record);
}

core::Type Unit::parameter_type(const clang::ParmVarDecl& parameter) {
  core::Type type = type_of(parameter.getType());
  if (type.name == "void") return {.name = "int"};
  if (!is_guard_parameter(parameter)) return type;
  const auto* of_template =
      llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(guarded_by_type(parameter.getType()));
  if (of_template != nullptr && of_template->getTemplateArgs().size() > 0) {
    const clang::TemplateArgument& first = of_template->getTemplateArgs()[0];
    const auto lock = first.getKind() == clang::TemplateArgument::Type
                          ? lock_type(first.getAsType())
                          : std::nullopt;
    if (lock) return {.name = *lock};
  }
  return {.name = "mutex"};
}

void Body::be_given(const clang::ParmVarDecl& guard, const core::Parameter& lock) {
  const clang::RecordDecl& record = *guarded_by_type(guard.getType());
  const bool lent = is_lent(guard.getType());
  state_.guards[&guard] = {.locks = {LockPath{.root = lock.name, .fields = {}, .type = lock.type}},
                           .held = Held::kYes,
                           .is_lent = lent,
                           .is_shared = is_of_std(record) && plain_name(record) == "shared_lock"};
  if (!lent) blocks_.back().locals.push_back(&guard);
}

bool Body::is_passed_on(const VarDecl& guard, const clang::CallExpr& call) const {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(callee);
  if (callee == nullptr || unit_.is_foreign(*callee) ||
      (method != nullptr && unit_.is_condition_class(*method->getParent()))) {
    return false;
  }
  const bool has_object = method != nullptr && llvm::isa<clang::CXXOperatorCallExpr>(call);
  for (unsigned i = 0; i < callee->getNumParams(); ++i) {
    const unsigned at = i + (has_object ? 1 : 0);
    if (at < call.getNumArgs() && unit_.is_guard_parameter(*callee->getParamDecl(i)) &&
        unit_.guard_in(call.getArg(at)) == &guard) {
      return true;
    }
  }
  return false;
}

// The lock of a guard that is given to somebody. One that does not hold it yet is taken to hold it
// from here if it is given away, which is a step of its own, and afterwards if it is lent.
ExprId Body::guard_argument(const Expr& argument, const core::Type& type) {
  const SourceLocation at = argument.getExprLoc();
  const bool given_away = !argument.isLValue() && !argument.getType()->isPointerType();
  Guard guard;
  bool is_new = false;
  const VarDecl* variable = unit_.guard_in(moved_from(&argument));
  const auto known = state_.guards.find(variable);
  if (known != state_.guards.end()) {
    guard = known->second;
    known->second.held = given_away ? Held::kNo : Held::kYes;
  } else {
    is_new = guard_from(argument, guard, at);
  }
  if (guard.locks.size() != 1 || guard.locks[0].type.name != type.name) return null(at);
  const LockPath lock = settled(guard.locks[0], at);
  if (guard.held == Held::kNo && given_away) emit(step("(take)", core::Basic::kCompound, at));
  if ((guard.held == Held::kNo && given_away) || (guard.held == Held::kYes && is_new)) {
    lock_step(Kind::kLock, lock, at, guard.is_shared);
  }
  return lock_expr(lock, at);
}

// What a guard is made of, or the one that an expression names is left without. True: it is a new
// one, and has not taken its lock yet.
bool Body::guard_from(const Expr& from, Guard& guard, SourceLocation at) {
  if (const clang::CXXConstructExpr* made = construction_of(&from)) {
    guard_locks(*made, guard, at);
    return !made->getConstructor()->isCopyOrMoveConstructor();
  }
  if (const VarDecl* variable = unit_.guard_in(moved_from(&from))) {
    const auto known = state_.guards.find(variable);
    if (known == state_.guards.end()) return false;
    guard = known->second;
    known->second.held = Held::kNo;
    known->second.tried = false;
    return false;
  }
  handed_out(&from, guard, at);
  return true;
}

// True: a guard was set to another one, two were swapped, or it was moved to somebody unknown.
bool Body::guard_exchanged(const clang::CallExpr& call) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  if (callee == nullptr) return false;
  if (const VarDecl* moved =
          is_of_std(*callee) && plain_name(*callee) == "move" && call.getNumArgs() == 1
              ? unit_.guard_in(call.getArg(0))
              : nullptr) {
    // Nobody knows who has it now, and for how long.
    change_guard(*moved, LockCall::Kind::kUnlock, false, call.getBeginLoc());
    return true;
  }
  if (const auto* sets = llvm::dyn_cast<clang::CXXOperatorCallExpr>(&call)) {
    return sets->getOperator() == clang::OO_Equal && call.getNumArgs() == 2 && guard_set(call);
  }
  if (plain_name(*callee) != "swap") return false;
  const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(&call);
  if (member != nullptr && call.getNumArgs() == 1) {
    return guards_swapped(*member->getImplicitObjectArgument(), *call.getArg(0),
                          call.getBeginLoc());
  }
  return member == nullptr && call.getNumArgs() == 2 &&
         guards_swapped(*call.getArg(0), *call.getArg(1), call.getBeginLoc());
}

bool Body::guard_set(const clang::CallExpr& call) {
  const SourceLocation at = call.getBeginLoc();
  const VarDecl* variable = unit_.guard_in(call.getArg(0));
  const auto known = state_.guards.find(variable);
  if (known == state_.guards.end() || known->second.by_block) return false;
  Guard guard;
  const bool is_new = guard_from(*call.getArg(1), guard, at);
  if (is_new && guard.held == Held::kYes) {
    for (const LockPath& lock : guard.locks) lock_step(Kind::kLock, lock, at, guard.is_shared);
  }
  // Then it gives back what it held.
  guard.is_lent = known->second.is_lent;
  change_guard(*variable, LockCall::Kind::kUnlock, false, at);
  known->second = std::move(guard);
  return true;
}

bool Body::guards_swapped(const Expr& one, const Expr& other, SourceLocation at) {
  const VarDecl* first = unit_.guard_in(&one);
  const VarDecl* second = unit_.guard_in(&other);
  if (first == nullptr && second == nullptr) return false;
  const bool both = state_.guards.contains(first) && state_.guards.contains(second);
  if (both) {
    Guard& a = state_.guards[first];
    Guard& b = state_.guards[second];
    std::swap(a, b);
    std::swap(a.is_lent, b.is_lent);
    return true;
  }
  // With one that nobody knows: what it held may be given back any time.
  for (const VarDecl* variable : {first, second}) {
    if (variable == nullptr || !state_.guards.contains(variable)) continue;
    change_guard(*variable, LockCall::Kind::kUnlock, false, at);
    state_.guards[variable].locks.clear();
  }
  return true;
}

}  // namespace tomos::cpp
