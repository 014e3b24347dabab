// Calls: of the project's functions, and of functions that are known only by name.
#include "clang/body.h"
#include "clang/known_calls.h"
#include "clang/places.h"

namespace tomos::cpp {

using clang::CXXMethodDecl;
using clang::Expr;
using clang::FunctionDecl;
using clang::LambdaExpr;
using clang::QualType;
using clang::SourceLocation;
using clang::VarDecl;
using core::ExprId;
using Kind = core::Expr::Kind;

Body::Use Body::use_for(QualType parameter) {
  const bool by_reference = parameter->isLValueReferenceType() || parameter->isPointerType();
  if (!by_reference) return parameter->isRValueReferenceType() ? Use::kChange : Use::kRead;
  return parameter->getPointeeType().isConstQualified() ? Use::kRead : Use::kChange;
}

Body::Use Body::use_for(const FunctionDecl& callee, unsigned parameter) const {
  return unit_.is_only_read(callee, parameter) ? Use::kRead : Use::kChange;
}

// A function or a method whose source is not there, as one step.
ExprId Body::step(const std::string& of, core::Basic basic, SourceLocation at) {
  const Unit::Home home = {.class_name = {}, .name = of, .is_static = true};
  unit_.add_method(home, {.kind = core::Method::Kind::kStatic,
                          .atomicity = program_.add(core::Term{.basic = basic}),
                          .result = {.name = "void"},
                          .name = of,
                          .is_unknown = true});
  return make(Kind::kCall, at, {core::kNoExpr}, of);
}

// A function that is foreign here. Another unit may have its source, or declare it as the project's
// own, so it has its own name; what it is given was evaluated before.
ExprId Body::foreign_step(const FunctionDecl& callee, std::optional<core::Basic> basic,
                          SourceLocation at) {
  const std::string called = unit_.function_name(callee);
  core::Method made = {.kind = core::Method::Kind::kStatic,
                       .result = {.name = "void"},
                       .name = called,
                       .display = callee.getQualifiedNameAsString(),
                       .is_unknown = true};
  if (basic) made.atomicity = program_.add(core::Term{.basic = *basic});
  unit_.add_method({.class_name = {}, .name = called, .is_static = true}, std::move(made));
  return make(Kind::kCall, at, {core::kNoExpr}, called);
}

// A part of a body that is nested so deeply that a walk over it could run out of stack.
ExprId Body::too_deep(SourceLocation at) {
  const std::string part = "(too deeply nested) " + function_.getQualifiedNameAsString();
  unit_.unknown_call(part);
  return step(part, core::Basic::kCompound, at);
}

void Body::arguments_effect(const FunctionDecl* callee, llvm::ArrayRef<const Expr*> arguments,
                            std::vector<ExprId>& out, bool at_once) {
  for (unsigned i = 0; i < arguments.size(); ++i) {
    const Expr* argument = arguments[i];
    if (lambda_in(argument) != nullptr || function_in(argument) != nullptr) {
      const Runs runs = at_once             ? Runs::kOften
                        : callee != nullptr ? how_it_runs(*callee, i)
                                            : Runs::kLater;
      out.push_back(callback(argument, arguments.drop_front(i + 1), runs));
      if (callee != nullptr) give_address(*callee, i, *argument, out.back());
      continue;
    }
    if (callee != nullptr && is_uncounted(argument, *callee, i)) {
      out.push_back(unknown_step(argument, argument->getExprLoc()));
    }
    const bool known = callee != nullptr && i < callee->getNumParams();
    const Use use = known ? use_for(*callee, i) : Use::kRead;
    out.push_back(argument_value(*argument, use).id);
  }
}

// Whoever is given the address of a pointer sets it, now or later, as with references that are
// handed out.
Body::Value Body::argument_value(const Expr& argument, Use use) {
  const clang::UnaryOperator* address = address_in(&argument);
  if (address == nullptr) return expr(&argument, use);
  const Expr* place = address->getSubExpr();
  const QualType type = argument.getType();
  const bool reads = use == Use::kRead && type->isPointerType() &&
                     type->getPointeeType().isConstQualified() &&
                     is_value(unit_.type_of(place->getType()));
  const Value value =
      reads ? opaque(unit_.type_of(type), expr(place, use).id) : expr(&argument, use);
  if (is_pointer(place->getType())) lend(value.id);
  return value;
}

// An access that hands out the place.
void Body::lend(ExprId id) {
  if (id == core::kNoExpr) return;
  core::Expr& of = program_.exprs[static_cast<std::size_t>(id)];
  if (of.kind == Kind::kField || of.kind == Kind::kUpdate || of.kind == Kind::kVariable) {
    of.is_lent = true;
  } else if (of.kind == Kind::kSequence) {
    for (const ExprId step_of : of.children) lend(step_of);
  }
}

Body::Value Body::unknown_call(const clang::CallExpr& of) {
  const SourceLocation at = of.getBeginLoc();
  std::vector<ExprId> effects;
  if (!llvm::isa<clang::CXXOperatorCallExpr>(of)) {
    effects.push_back(expr(of.getCallee(), Use::kRead).id);
  }
  const std::vector<const Expr*> arguments(of.arg_begin(), of.arg_end());
  arguments_effect(nullptr, arguments, effects, false);
  const Expr* callee = llvm::isa<clang::CXXOperatorCallExpr>(of) && !arguments.empty()
                           ? arguments[0]
                           : of.getCallee();
  effects.push_back(unknown_step(callee, at));
  return opaque(unit_.type_of(of.getType()), sequence(std::move(effects), at));
}

// It calls something, which may do anything.
ExprId Body::unknown_step(const Expr* callee, SourceLocation at) {
  std::string through = "a function pointer";
  callee = callee->IgnoreParenCasts();
  if (const auto* part = llvm::dyn_cast<clang::MemberExpr>(callee)) {
    through = part->getMemberDecl()->getQualifiedNameAsString();
  } else if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(callee)) {
    through = reference->getDecl()->getQualifiedNameAsString();
  }
  unit_.unknown_call(through);
  return step("(call) " + through, core::Basic::kCompound, at);
}

Body::Value Body::project_call(const FunctionDecl& callee, const clang::CallExpr& of) {
  const SourceLocation at = of.getExprLoc();
  const Unit::Home home = unit_.declare(callee);
  const auto* method = llvm::dyn_cast<CXXMethodDecl>(&callee);
  const auto* member_call = llvm::dyn_cast<clang::CXXMemberCallExpr>(&of);
  const bool operator_method = llvm::isa<clang::CXXOperatorCallExpr>(of) && method != nullptr &&
                               method->isImplicitObjectMemberFunction();
  std::vector<ExprId> children = {core::kNoExpr};
  std::vector<ExprId> before;
  std::string called = home.name;
  std::vector<const Expr*> arguments(of.arg_begin(), of.arg_end());
  const Expr* receiver_of = nullptr;
  std::vector<LockPath> around;  // held where the callee calls what it is given
  if (method != nullptr && method->isImplicitObjectMemberFunction()) {
    const Expr* receiver = operator_method          ? arguments[0]
                           : member_call != nullptr ? member_call->getImplicitObjectArgument()
                                                    : nullptr;
    if (operator_method) arguments.erase(arguments.begin());
    if (receiver == nullptr) return unknown_call(of);
    receiver_of = receiver;
    const bool arrow = receiver->getType()->isPointerType();
    const Use use = arrow ? Use::kRead : method->isConst() ? Use::kRead : Use::kChange;
    const Named* known = named(receiver);
    const Value value = known != nullptr ? Value{.id = name(known->name, at), .type = known->type}
                                         : expr(receiver, use);
    const core::Type owner = {.name = home.class_name};
    // A call of a method of a base by its full name does not go to an override.
    const auto* part = llvm::dyn_cast<clang::MemberExpr>(of.getCallee()->IgnoreParens());
    ExprId target = object(value, owner, at);
    if (part != nullptr && part->hasQualifier() && method->isVirtual() &&
        value.type.name != owner.name) {
      const std::string as_base = fresh("base");
      target = program_.add({.kind = Kind::kLet,
                             .position = unit_.position(at),
                             .name = as_base,
                             .children = {target, name(as_base, at)},
                             .type = owner});
    }
    children[0] = target;
  } else if (method != nullptr) {
    called = home.class_name + "::" + home.name;
  }
  const std::size_t count = unit_.method_at(home).parameters.size();
  for (unsigned i = 0; i < arguments.size(); ++i) {
    const Expr* argument = arguments[i];
    if (lambda_in(argument) != nullptr || function_in(argument) != nullptr) {
      const Runs runs = how_it_runs(callee, i);
      const ExprId made = callback(argument, llvm::ArrayRef(arguments).drop_front(i + 1), runs);
      if (runs != Runs::kLater && made != core::kNoExpr) {
        const Scope outer = scope();
        const Scope inside = {
            .outer = &outer, .callee = &callee, .object = receiver_of, .arguments = arguments};
        for (const LockPath& lock : locks_around(callee, i, inside)) {
          around.push_back(settled(lock, at));
        }
      }
      give_address(callee, i, *argument, made);
      before.push_back(made);
      if (i < count) {
        children.push_back(coerce({}, unit_.method_at(home).parameters[i].type, at));
      }
      continue;
    }
    if (is_uncounted(argument, callee, i)) before.push_back(unknown_step(argument, at));
    if (i < count && unit_.method_at(home).parameters[i].is_guard) {
      const core::Type type = unit_.method_at(home).parameters[i].type;
      children.push_back(guard_argument(*argument, type));
      continue;
    }
    const Use use = i < callee.getNumParams() ? use_for(callee, i) : Use::kRead;
    const Value value = argument_value(*argument, use);
    if (i < count) {
      const core::Type type = unit_.method_at(home).parameters[i].type;
      children.push_back(coerce(value, type, at));
    } else {
      before.push_back(value.id);
    }
  }
  for (std::size_t i = arguments.size(); i < count; ++i) {
    children.push_back(coerce({}, unit_.method_at(home).parameters[i].type, at));
  }
  const core::Type type = unit_.type_of(callee.getReturnType());
  const ExprId made = make(Kind::kCall, at, std::move(children), called);
  const bool is_told = unit_.derives(unit_.method_at(home).result.name, type.name);
  const Value result = is_told ? Value{.id = made, .type = type} : opaque(type, made);
  Value value = then(sequence(std::move(before), at), result, at);
  // The callee holds them where it calls what it was given. To hold them all the while is the same
  // to others.
  for (const LockPath& lock : around) {
    value.id = program_.add({.kind = Kind::kSync,
                             .position = unit_.position(at),
                             .children = {lock_expr(lock, at), value.id},
                             .is_callees = true});
  }
  if (callee.isNoReturn()) {
    emit(value.id);
    if (conditional_ == 0) diverge(at);
    return opaque(type, core::kNoExpr);
  }
  return value;
}

// What is read to get to a lock or a condition variable, which is not itself an access.
ExprId Body::way_to(const Expr& object_of) {
  const auto* part = llvm::dyn_cast<clang::MemberExpr>(object_of.IgnoreParenImpCasts());
  if (part == nullptr || object_of.getType()->isPointerType()) {
    return expr(&object_of, Use::kName).id;
  }
  const Expr* base = part->getBase()->IgnoreParenImpCasts();
  if (llvm::isa<clang::CXXThisExpr>(base)) return core::kNoExpr;
  return expr(part->getBase(), part->isArrow() ? Use::kRead : Use::kName).id;
}

Body::Value Body::foreign_method(const CXXMethodDecl& callee, const Expr& object_of,
                                 llvm::ArrayRef<const Expr*> arguments, const clang::CallExpr& of,
                                 Use use) {
  const SourceLocation at = of.getExprLoc();
  const core::Type type = unit_.type_of(of.getType());
  const std::string called =
      llvm::isa<clang::CXXConversionDecl>(callee) ? "operator bool" : callee.getNameAsString();
  const std::string owner = callee.getParent()->getNameAsString();
  std::vector<ExprId> effects;
  const bool is_atomic = owner.starts_with("atomic") || owner.starts_with("__atomic");
  const bool assigns = called == "operator=" || called == "store" || called == "reset";
  const bool is_pointer =
      owner.find("ptr") != std::string::npos || owner.find("Ptr") != std::string::npos ||
      owner.find("Pointer") != std::string::npos || Unit::is_pointer_class(*callee.getParent());
  const bool leads_into = is_iterator(object_of.getType());
  const bool handed_over = assigns && is_pointer && arguments.size() == 1;
  if (!handed_over) arguments_effect(&callee, arguments, effects, calls_at_once(called));
  if (assigns && (is_atomic || is_pointer)) {
    if (handed_over) {
      Value value = expr(arguments[0], Use::kRead);
      value.gone = is_null(arguments[0]);
      return opaque(type, assign(&object_of, value, false, at).id);
    }
    const bool empties = is_pointer && called == "reset";
    const Value value = {
        .id = sequence(std::move(effects), at), .type = type, .is_value = false, .gone = empties};
    return opaque(type, assign(&object_of, value, false, at).id);
  }
  if (owner.find("function") != std::string::npos && called == "operator()") {
    return unknown_call(of);
  }
  const bool reads = callee.isConst() || only_reads(called) || (is_atomic && called == "load") ||
                     (is_atomic && llvm::isa<clang::CXXConversionDecl>(callee));
  const Expr* place = object_of.IgnoreParenImpCasts();
  const auto* through = llvm::dyn_cast<clang::CXXOperatorCallExpr>(place);
  // What it owns and the core does not look into is a part of it.
  const bool through_owner = through != nullptr && through->getOperator() == clang::OO_Arrow &&
                             unit_.owns_value(through->getArg(0)->getType());
  const bool inner_pointer = place->getType()->isPointerType() && !through_owner;
  const bool owns = unit_.owns_value(object_of.getType());
  Use of_object = reads ? Use::kRead : Use::kChange;
  // What is held by value changes with its parts; what is pointed to does not.
  if (reads && use == Use::kChange && (!is_pointer || owns) && !inner_pointer && !leads_into) {
    of_object = Use::kChange;
  }
  if (inner_pointer) of_object = Use::kRead;
  const bool signals = unit_.is_condition_class(*callee.getParent()) ||
                       owner.find("condition_variable") != std::string::npos;
  Value value = signals ? opaque(type, way_to(object_of)) : expr(&object_of, of_object);
  const ExprId behind =
      leads_into && use == Use::kChange ? change_behind(object_of) : core::kNoExpr;
  const bool hands_on = called == "get" || called == "operator->" || called == "operator*" ||
                        called == "value" || called == "lock" || called == "load" ||
                        called == "operator bool";
  if (hands_on && effects.empty() && behind == core::kNoExpr &&
      unit_.derives(value.type.name, type.name)) {
    return value;
  }
  effects.insert(effects.end(), {value.id, behind});
  const auto* variable_of = variable_in(&object_of);
  if (leads_into && called == "operator=" && variable_of != nullptr) {
    remember_iterator(*variable_of, arguments[0]);
  }
  if (owner == "thread" || owner == "future" || owner.find("barrier") != std::string::npos ||
      owner == "latch") {
    effects.push_back(step(owner + "::" + called, core::Basic::kAtomic, at));
  }
  return opaque(type, sequence(std::move(effects), at));
}

Body::Value Body::foreign_function(const FunctionDecl& callee, const clang::CallExpr& of, Use use) {
  const SourceLocation at = of.getExprLoc();
  const core::Type type = unit_.type_of(of.getType());
  const std::string called = callee.getNameAsString();
  const bool in_std = is_of_std(callee);
  const std::vector<const Expr*> arguments(of.arg_begin(), of.arg_end());
  std::vector<ExprId> effects;
  if (in_std && arguments.size() == 1 &&
      (called == "move" || called == "forward" || called == "as_const" || called == "addressof" ||
       called == "ref" || called == "get" || called == "launder")) {
    // What is handed out by reference is changed by who knows whom.
    const bool is_lent = (called == "ref" || called == "addressof") && use == Use::kRead &&
                         is_value(unit_.type_of(arguments[0]->getType()));
    Value value = expr(arguments[0], called == "move" ? Use::kMove : is_lent ? Use::kChange : use);
    if (is_lent) lend(value.id);
    if (unit_.derives(value.type.name, type.name)) return value;
    return opaque(type, value.id);
  }
  if (in_std && (called == "make_unique" || called == "make_shared") && !is_value(type) &&
      !unit_.lock_type(of.getType())) {
    arguments_effect(nullptr, arguments, effects, false);
    effects.push_back(
        program_.add({.kind = Kind::kNew, .position = unit_.position(at), .type = type}));
    return {.id = sequence(std::move(effects), at), .type = type};
  }
  arguments_effect(&callee, arguments, effects, calls_at_once(called));
  // memcpy and the like: an object as bytes.
  for (unsigned i = 0; i < arguments.size() && i < callee.getNumParams(); ++i) {
    const QualType parameter = callee.getParamDecl(i)->getType();
    if (parameter->isVoidPointerType() && names_parts(*arguments[i])) {
      effects.push_back(expr(arguments[i], use_for(parameter)).id);
    }
  }
  if (callee.isNoReturn()) {
    emit(sequence(std::move(effects), at));
    if (conditional_ == 0) diverge(at);
    return opaque(type, core::kNoExpr);
  }
  switch (effect_of(called, in_std || callee.getBuiltinID() != 0)) {
    case Effect::kNone:
      break;
    case Effect::kStep:
      effects.push_back(foreign_step(callee, core::Basic::kAtomic, at));
      break;
    case Effect::kUnknown:
      effects.push_back(foreign_step(callee, std::nullopt, at));
      break;
  }
  return opaque(type, sequence(std::move(effects), at));
}

Body::Value Body::call(const clang::CallExpr& of, Use use) {
  const SourceLocation at = of.getExprLoc();
  const core::Type type = unit_.type_of(of.getType());
  const FunctionDecl* callee = of.getDirectCallee();
  if (lock_effect(of)) {
    if (callee != nullptr && callee->isNoReturn() && conditional_ == 0) diverge(at);
    const auto told = told_by_guard(&of);
    return told ? Value{.id = lock_expr(*told, at), .type = told->type}
                : opaque(type, core::kNoExpr);
  }
  if (callee == nullptr) {
    const clang::BinaryOperator* pointer = through_pointer(of);
    return pointer != nullptr ? pointer_call(*pointer, of) : unknown_call(of);
  }
  const auto* method = llvm::dyn_cast<CXXMethodDecl>(callee);
  const auto* operator_call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(&of);
  const std::vector<const Expr*> arguments(of.arg_begin(), of.arg_end());
  if (method == nullptr) {
    if (unit_.is_foreign(*callee)) return foreign_function(*callee, of, use);
    if (plain_name(*callee) == "tomos_begin_atomic_") return {};
    return project_call(*callee, of);
  }
  const auto* member_call = llvm::dyn_cast<clang::CXXMemberCallExpr>(&of);
  const Expr* receiver = member_call != nullptr ? member_call->getImplicitObjectArgument()
                         : operator_call != nullptr && !arguments.empty() ? arguments[0]
                                                                          : nullptr;
  const clang::CXXRecordDecl& record = *method->getParent();
  if (makes_pointer(method)) return {.id = callback(receiver, {}, Runs::kLater)};
  if (record.isLambda() && receiver != nullptr) {
    if (const LambdaExpr* lambda = lambda_in(receiver)) {
      const ExprId created = made_with(receiver);
      const ExprId made =
          lambda_call(*lambda, callee,
                      llvm::ArrayRef(arguments).drop_front(operator_call != nullptr ? 1 : 0), at);
      if (made != core::kNoExpr) return then(created, {.id = made, .type = type}, at);
    }
    if (is_counted_by_caller(receiver)) {
      std::vector<ExprId> effects;
      arguments_effect(callee,
                       llvm::ArrayRef(arguments).drop_front(operator_call != nullptr ? 1 : 0),
                       effects, false);
      return opaque(type, sequence(std::move(effects), at));
    }
    return unknown_call(of);
  }
  const bool foreign = unit_.is_foreign(record) || Unit::is_pointer_class(record) ||
                       unit_.is_condition_class(record);
  if (const auto told = told_by_guard(&of)) {
    return {.id = lock_expr(*told, at), .type = told->type};
  }
  if (unit_.is_lock_class(record) || unit_.is_guard_class(record)) {
    std::vector<ExprId> effects;
    if (receiver != nullptr) effects.push_back(way_to(*receiver));
    arguments_effect(nullptr, arguments, effects, false);
    return opaque(type, sequence(std::move(effects), at));
  }
  if (foreign && receiver != nullptr) {
    return foreign_method(*method, *receiver,
                          llvm::ArrayRef(arguments).drop_front(operator_call != nullptr ? 1 : 0),
                          of, use);
  }
  if (foreign) return foreign_function(*callee, of, use);
  if ((method->isImplicit() || method->isDefaulted()) && receiver != nullptr &&
      !arguments.empty()) {
    // A copy that the compiler writes.
    const ExprId from = expr(arguments.back(), Use::kRead).id;
    const auto* to = llvm::dyn_cast<clang::DeclRefExpr>(receiver->IgnoreParenCasts());
    const ExprId changed =
        to != nullptr && state_.variables.contains(llvm::dyn_cast<VarDecl>(to->getDecl()))
            ? core::kNoExpr
            : assign(receiver, {.id = from}, false, at).id;
    std::vector<ExprId> effects = {changed == core::kNoExpr ? from : changed};
    if (names_parts(*arguments.back())) effects.push_back(expr(arguments.back(), Use::kRead).id);
    if (changed != core::kNoExpr && names_parts(*receiver)) {
      effects.push_back(assign(receiver, opaque(type, core::kNoExpr), false, at).id);
    }
    return opaque(type, sequence(std::move(effects), at));
  }
  return project_call(*callee, of);
}

}  // namespace tomos::cpp
