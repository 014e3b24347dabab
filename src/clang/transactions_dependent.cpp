// What depends on the parameters of a generic lambda that is never instantiated, because only a
// function calls it whose source is not read. What of it is known is used; the rest is any value.
#include "clang/known_calls.h"
#include "clang/transactions.h"

namespace tomos::cpp {

using clang::Expr;
using tm::NodeId;

// Of a call by a name that is not resolved: the object is changed, unless the name says otherwise.
NodeId TransactionUnit::dependent_object(const Expr& of, const std::string& called, NodeId given) {
  const clang::SourceLocation at = of.getExprLoc();
  if (of.isInstantiationDependent() || !of.isGLValue() || is_object(of.getType())) {
    return value(&of);
  }
  const NodeId object = place(&of);
  const bool reads = only_reads(called) || of.getType().isConstQualified();
  return reads ? load(object, at) : make(Kind::kUpdate, at, {object, given});
}

NodeId TransactionUnit::dependent(const Expr& of) {
  const clang::SourceLocation at = of.getExprLoc();
  if (const auto* lambda = llvm::dyn_cast<clang::LambdaExpr>(&of)) return closure(*lambda);
  if (const auto* brackets = llvm::dyn_cast<clang::ParenExpr>(&of)) {
    return value(brackets->getSubExpr());
  }
  const auto* pair = llvm::dyn_cast<clang::BinaryOperator>(&of);
  if (pair != nullptr && pair->isAssignmentOp()) {
    const Kind kind = pair->isCompoundAssignmentOp() ? Kind::kUpdate : Kind::kAssign;
    return make(kind, at, {place(pair->getLHS()), value(pair->getRHS())});
  }
  const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(&of);
  if (unary != nullptr && unary->isIncrementDecrementOp()) {
    return make(Kind::kUpdate, at, {place(unary->getSubExpr()), constant(at)});
  }
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(&of)) {
    const std::vector<const Expr*> arguments(call->arg_begin(), call->arg_end());
    const NodeId given = operands(arguments, at);
    const Expr* callee = call->getCallee()->IgnoreParenCasts();
    if (const auto* by_name = llvm::dyn_cast<clang::CXXDependentScopeMemberExpr>(callee)) {
      if (by_name->isImplicitAccess()) return given;
      return dependent_object(*by_name->getBase(), by_name->getMember().getAsString(), given);
    }
    if (const auto* overloaded = llvm::dyn_cast<clang::UnresolvedMemberExpr>(callee)) {
      if (overloaded->isImplicitAccess()) return given;
      return dependent_object(*overloaded->getBase(), overloaded->getMemberName().getAsString(),
                              given);
    }
    const auto* by_operator = llvm::dyn_cast<clang::CXXOperatorCallExpr>(call);
    if (by_operator != nullptr && by_operator->isAssignmentOp()) {
      return make(Kind::kUpdate, at, {place(arguments[0]), given});
    }
    return given;
  }
  std::vector<const Expr*> parts;
  for (const clang::Stmt* child : of.children()) {
    if (const auto* part = llvm::dyn_cast_or_null<Expr>(child)) parts.push_back(part);
  }
  return operands(parts, at);
}

}  // namespace tomos::cpp
