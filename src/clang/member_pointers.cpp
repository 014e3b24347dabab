// Pointers to methods. A call through one, (object->*pointer)(arguments), is a call of a method
// that stands for all whose address is taken in this unit, with that class and signature: it calls
// any of them. Where the address was taken they are then not begun as by another thread.
#include <clang/AST/ExprCXX.h>

#include "clang/body.h"
#include "clang/unit.h"

namespace tomos::cpp {

using clang::CXXMethodDecl;
using core::ExprId;
using Kind = core::Expr::Kind;

Unit::MemberPointer& Unit::member_pointer(const clang::MemberPointerType& type) {
  const clang::CXXRecordDecl* record = type.getMostRecentCXXRecordDecl();
  const clang::QualType function = context.getCanonicalType(type.getPointeeType());
  const Home home = {.class_name = class_name(*record), .name = "->* " + function.getAsString()};
  MemberPointer& made = member_pointers_[home.class_name + " " + home.name];
  made.home = home;
  return made;
}

void Unit::take_address(const CXXMethodDecl& method, ExprId begun) {
  const clang::QualType type = context.getMemberPointerType(
      method.getType(), context.getRecordType(method.getParent()).getTypePtr());
  MemberPointer& of = member_pointer(*type->castAs<clang::MemberPointerType>());
  of.methods.insert(declare(method).name);
  if (begun != core::kNoExpr) of.begun.push_back(begun);
}

void Body::give_address(const clang::FunctionDecl& callee, unsigned parameter,
                        const clang::Expr& argument, ExprId begun) {
  if (unit_.is_foreign(callee) || parameter >= callee.getNumParams()) return;
  if (!callee.getParamDecl(parameter)->getType()->isMemberFunctionPointerType()) return;
  const auto* method = llvm::dyn_cast_or_null<CXXMethodDecl>(function_in(&argument));
  if (method != nullptr && !unit_.is_foreign(*method)) unit_.take_address(*method, begun);
}

Unit::Home Unit::declare_call(const clang::MemberPointerType& type) {
  MemberPointer& of = member_pointer(type);
  of.is_called = true;
  const auto* function = type.getPointeeType()->getAs<clang::FunctionProtoType>();
  core::Method made = {.kind = core::Method::Kind::kMethod,
                       .result = type_of(function->getReturnType()),
                       .name = of.home.name,
                       .display = of.home.class_name + "::" + of.home.name};
  for (const clang::QualType parameter : function->param_types()) {
    core::Type one = type_of(parameter);
    if (one.name == "void") one.name = "int";
    made.parameters.push_back(
        {.type = std::move(one), .name = "x" + std::to_string(made.parameters.size())});
  }
  type_of(context.getRecordType(type.getMostRecentCXXRecordDecl()));
  const Home home = of.home;
  add_method(home, std::move(made));
  return home;
}

void Unit::read_member_pointers() {
  for (const auto& [key, of] : member_pointers_) {
    if (!of.is_called || of.methods.empty()) continue;
    const core::Position at = method_at(of.home).position;
    const auto add = [&](Kind kind, std::vector<ExprId> children, std::string name) {
      return program.add(
          {.kind = kind, .position = at, .name = std::move(name), .children = std::move(children)});
    };
    ExprId any = core::kNoExpr;
    for (const std::string& name : of.methods) {
      std::vector<ExprId> children = {add(Kind::kVariable, {}, "this")};
      for (const core::Parameter& parameter : method_at(of.home).parameters) {
        children.push_back(add(Kind::kVariable, {}, parameter.name));
      }
      const ExprId call = add(Kind::kCall, std::move(children), name);
      any = any == core::kNoExpr
                ? call
                : add(Kind::kIf, {add(Kind::kConstant, {}, "\"?\""), call, any}, {});
    }
    method_at(of.home).body = any;
    for (const ExprId begun : of.begun)
      program.exprs[static_cast<std::size_t>(begun)] = {.kind = Kind::kSequence, .position = at};
  }
}

const clang::BinaryOperator* through_pointer(const clang::CallExpr& of) {
  const auto* callee = llvm::dyn_cast<clang::BinaryOperator>(of.getCallee()->IgnoreParens());
  if (callee == nullptr || !callee->isPtrMemOp()) return nullptr;
  const auto* type = callee->getRHS()->getType()->getAs<clang::MemberPointerType>();
  return type == nullptr ? nullptr : callee;
}

Body::Value Body::pointer_call(const clang::BinaryOperator& callee, const clang::CallExpr& of) {
  const clang::SourceLocation at = of.getBeginLoc();
  const auto& type = *callee.getRHS()->getType()->castAs<clang::MemberPointerType>();
  const ExprId pointer = expr(callee.getRHS(), Use::kRead).id;
  const Value receiver = expr(callee.getLHS(), Use::kRead);
  const Unit::Home home = unit_.declare_call(type);
  std::vector<ExprId> children = {object(receiver, {.name = home.class_name}, at)};
  const auto* function = type.getPointeeType()->castAs<clang::FunctionProtoType>();
  for (unsigned i = 0; i < of.getNumArgs() && i < function->getNumParams(); ++i) {
    const clang::QualType wanted = function->getParamType(i);
    const Value value = expr(of.getArg(i), use_for(wanted));
    children.push_back(coerce(value, unit_.method_at(home).parameters[i].type, at));
  }
  const ExprId call = make(Kind::kCall, at, std::move(children), home.name);
  return then(pointer, {.id = call, .type = unit_.type_of(of.getType())}, at);
}

}  // namespace tomos::cpp
