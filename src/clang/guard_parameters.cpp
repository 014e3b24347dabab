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
  const clang::CXXConstructExpr* made = argument.isGLValue() ? nullptr : construction_of(&argument);
  Guard guard;
  bool is_new = false;
  if (made != nullptr) {
    guard_locks(*made, guard, at);
    is_new = !made->getConstructor()->isCopyOrMoveConstructor();
  } else if (const VarDecl* variable = unit_.guard_in(moved_from(&argument))) {
    const auto known = state_.guards.find(variable);
    if (known != state_.guards.end()) {
      guard = known->second;
      known->second.held = given_away ? Held::kNo : Held::kYes;
    }
  } else {
    handed_out(&argument, guard, at);
    is_new = true;
  }
  if (guard.locks.size() != 1 || guard.locks[0].type.name != type.name) return null(at);
  const LockPath lock = settled(guard.locks[0], at);
  if (guard.held == Held::kNo && given_away) emit(step("(take)", core::Basic::kCompound, at));
  if ((guard.held == Held::kNo && given_away) || (guard.held == Held::kYes && is_new)) {
    lock_step(Kind::kLock, lock, at, guard.is_shared);
  }
  return lock_expr(lock, at);
}

}  // namespace tomos::cpp
