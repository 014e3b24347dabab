// Lambdas and other callables: called here, or given to somebody who calls them at once or later.
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

namespace {

bool holds_callable(const clang::CXXRecordDecl& record) {
  if (record.isLambda()) return true;
  const std::string name = record.getNameAsString();
  return name.find("unction") != std::string::npos || name.find("Invocable") != std::string::npos ||
         name.find("Callback") != std::string::npos;
}

// Through copies, conversions to std::function and to plain functions, std::move and the like.
const Expr* callable_core(const Expr* of) {
  while (true) {
    const Expr* inner = of->IgnoreParenCasts()->IgnoreImplicit()->IgnoreParenCasts();
    const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(inner);
    if (made != nullptr && holds_callable(*made->getConstructor()->getParent())) {
      if (made->getNumArgs() == 1 ||
          (made->getNumArgs() > 1 && llvm::isa<clang::CXXDefaultArgExpr>(made->getArg(1)))) {
        inner = made->getArg(0);
      }
    } else if (const auto* turned = llvm::dyn_cast<clang::CXXMemberCallExpr>(inner);
               turned != nullptr && Body::makes_pointer(turned->getDirectCallee())) {
      inner = turned->getImplicitObjectArgument();
    } else if (const auto* call = llvm::dyn_cast<clang::CallExpr>(inner)) {
      const FunctionDecl* callee = call->getDirectCallee();
      if (callee != nullptr && is_of_std(*callee) && callee->getDeclName().isIdentifier() &&
          call->getNumArgs() == 1) {
        const llvm::StringRef name = plain_name(*callee);
        if (name == "move" || name == "forward" || name == "ref" || name == "cref") {
          inner = call->getArg(0);
        }
      }
    } else if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(inner)) {
      if (unary->getOpcode() == clang::UO_AddrOf || unary->getOpcode() == clang::UO_Plus) {
        inner = unary->getSubExpr();
      }
    }
    if (inner == of) return of;
    of = inner;
  }
}

}  // namespace

// A lambda turns into a pointer to a plain function.
bool Body::makes_pointer(const FunctionDecl* callee) {
  const auto* method = llvm::dyn_cast_or_null<clang::CXXConversionDecl>(callee);
  return method != nullptr && method->getParent()->isLambda();
}

const LambdaExpr* Body::lambda_in(const Expr* of) const {
  const Expr* inner = callable_core(of);
  if (const auto* lambda = llvm::dyn_cast<LambdaExpr>(inner)) return lambda;
  const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(inner);
  if (reference == nullptr) return nullptr;
  const auto* variable = llvm::dyn_cast<VarDecl>(reference->getDecl());
  if (variable != nullptr && variable->hasGlobalStorage() && is_lambda(variable->getType())) {
    const Expr* init = variable->getAnyInitializer();
    return init == nullptr ? nullptr : llvm::dyn_cast<LambdaExpr>(callable_core(init));
  }
  const auto known = lambdas_.find(variable);
  return known == lambdas_.end() ? nullptr : known->second;
}

const FunctionDecl* Body::function_in(const Expr* of) {
  const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(callable_core(of));
  return reference == nullptr ? nullptr : llvm::dyn_cast<FunctionDecl>(reference->getDecl());
}

// A lambda is a method of the class around it, and what it captures are its first parameters. None:
// its body is not there, or this is inside of it, and it calls itself.
ExprId Body::lambda_call(const LambdaExpr& lambda, const FunctionDecl* called,
                         llvm::ArrayRef<const Expr*> arguments, SourceLocation at) {
  if (std::ranges::find(open_lambdas_, &lambda) != open_lambdas_.end()) return core::kNoExpr;
  const FunctionDecl* function = called;
  if (function == nullptr) {
    if (const clang::FunctionTemplateDecl* generic = lambda.getDependentCallOperator()) {
      const auto all = generic->specializations();
      // Perhaps only a function calls it whose source is not read: then as it is written.
      function = all.begin() == all.end() ? lambda.getCallOperator() : *all.begin();
    } else {
      function = lambda.getCallOperator();
    }
  }
  if (function->getDefinition() != nullptr) function = function->getDefinition();
  const bool is_template = function->getDeclContext()->isDependentContext();
  if (is_template || !function->hasBody()) return core::kNoExpr;
  const bool with_this =
      !home_.is_static && std::ranges::any_of(lambda.captures(), [](const auto& capture) {
        return capture.capturesThis();
      });
  const core::Position where = unit_.position(lambda.getBeginLoc());
  std::string own =
      home_.class_name.empty() || with_this ? home_.name : home_.class_name + "::" + home_.name;
  own += "::lambda@" + std::to_string(where.line) + ":" + std::to_string(where.column);
  if (called != nullptr && called->getTemplateSpecializationArgs() != nullptr) {
    own += "#" + std::to_string(called->getTemplateSpecializationArgs()->size()) +
           called->getType().getAsString();
  }
  const Unit::Home home = {.class_name = with_this ? home_.class_name : std::string(),
                           .name = own,
                           .is_static = !with_this};

  // What it captures: the variables that lead to objects.
  struct Captured {
    const VarDecl* variable;
    const Expr* init;  // of one that it declares itself
    core::Type type;
    const Guard* guard;  // what it does to that, it does to the lock
  };
  std::vector<Captured> captured;
  for (const clang::LambdaCapture& capture : lambda.captures()) {
    if (!capture.capturesVariable()) continue;
    const auto* variable_of = llvm::dyn_cast<VarDecl>(capture.getCapturedVar());
    if (variable_of == nullptr || variable_of->hasGlobalStorage()) continue;
    core::Type type = unit_.type_of(variable_of->getType());
    const auto guard = state_.guards.find(variable_of);
    const bool is_guard = guard != state_.guards.end() && !guard->second.by_block &&
                          guard->second.locks.size() == 1 &&
                          capture.getCaptureKind() == clang::LCK_ByRef;
    if (is_guard) type = guard->second.locks[0].type;
    if (is_value(type)) continue;
    captured.push_back({.variable = variable_of,
                        .init = variable_of->isInitCapture() ? variable_of->getInit() : nullptr,
                        .type = type,
                        .guard = is_guard ? &guard->second : nullptr});
  }
  std::vector<ExprId> children = {with_this ? name("this", at) : core::kNoExpr};
  for (const Captured& capture : captured) {
    if (capture.guard != nullptr) {
      children.push_back(lock_expr(settled(capture.guard->locks[0], at), at));
      continue;
    }
    const Value value = capture.init != nullptr ? expr(capture.init, Use::kRead)
                                                : variable(*capture.variable, Use::kName, at);
    children.push_back(coerce(value, capture.type, at));
  }
  for (const clang::ParmVarDecl* parameter : function->parameters()) {
    const unsigned i = parameter->getFunctionScopeIndex();
    const core::Type type = unit_.parameter_type(*parameter);
    if (i < arguments.size() && unit_.is_guard_parameter(*parameter)) {
      children.push_back(guard_argument(*arguments[i], type));
      continue;
    }
    const Value value =
        i < arguments.size() ? argument_value(*arguments[i], use_for(*function, i)) : Value{};
    children.push_back(coerce(value, type, at));
  }

  std::string shown = initialises_;
  if (shown.empty()) {
    const core::Method& around = unit_.method_at(home_);
    shown = around.display.empty() ? around.name : around.display;
  }
  core::Method made = {
      .kind = with_this ? core::Method::Kind::kMethod : core::Method::Kind::kStatic,
      .result = unit_.type_of(function->getReturnType()),
      .name = own,
      .display = shown + "::lambda",
      .is_private = true,
      .position = where};
  std::set<std::string> used;
  const auto parameter = [&](const VarDecl& variable_of, core::Type type, std::string wanted) {
    while (!used.insert(wanted).second) wanted += "'";
    made.parameters.push_back({.type = std::move(type),
                               .name = wanted,
                               .display = variable_of.getNameAsString(),
                               .is_pointer = is_pointer(variable_of.getType()),
                               .position = unit_.position(variable_of.getLocation())});
    return wanted;
  };
  Body body(unit_, *function, home);
  body.lambda_ = &lambda;
  body.lambdas_ = lambdas_;
  body.open_lambdas_ = open_lambdas_;
  body.open_lambdas_.push_back(&lambda);
  for (const Captured& capture : captured) {
    const std::string as =
        parameter(*capture.variable, capture.type, capture.variable->getNameAsString());
    if (capture.guard != nullptr) {
      made.parameters.back().is_guard = true;
      body.state_.guards[capture.variable] = {
          .locks = {LockPath{.root = as, .fields = {}, .type = capture.type}},
          .held = capture.guard->held,
          .is_lent = true,
          .is_shared = capture.guard->is_shared};
      continue;
    }
    body.state_.variables[capture.variable] = {.name = as, .type = capture.type};
  }
  for (const clang::ParmVarDecl* of : function->parameters()) {
    parameter(*of, unit_.parameter_type(*of), Body::parameter_name(*of));
    made.parameters.back().is_guard = unit_.is_guard_parameter(*of);
  }
  for (const auto& [reference, place] : places_) body.places_.emplace(reference, place);
  body.pointers_ = pointers_;
  core::Method& method = unit_.add_method(home, std::move(made));
  if (method.body == core::kNoExpr) {
    unit_.attributes(*function, method);
    const ExprId read_body = body.read();
    unit_.method_at(home).body = read_body;
  }
  return make(Kind::kCall, at, std::move(children), own);
}

namespace {

void lambdas_in(const clang::Stmt* of, std::vector<const LambdaExpr*>& to) {
  if (of == nullptr) return;
  if (const auto* lambda = llvm::dyn_cast<LambdaExpr>(of)) {
    to.push_back(lambda);
    return;
  }
  for (const clang::Stmt* child : of->children()) lambdas_in(child, to);
}

}  // namespace

// What initialises something is done before others can see it; the lambdas in it run later.
void Body::initial_lambdas(const Expr& init) {
  std::vector<const LambdaExpr*> lambdas;
  lambdas_in(&init, lambdas);
  for (const LambdaExpr* lambda : lambdas) emit(callback(lambda, {}, Runs::kLater));
}

// Without a function around them: in what initialises a global or the field of a class that no
// constructor is written for.
void Body::read_lambdas(Unit& unit, const clang::ValueDecl& of, const Expr* init,
                        const Unit::Home& around) {
  if (init == nullptr || init->isValueDependent()) return;
  // One that is called by its name is read where it is.
  if (is_lambda(of.getType()) && llvm::isa<LambdaExpr>(callable_core(init))) return;
  std::vector<const LambdaExpr*> lambdas;
  lambdas_in(init, lambdas);
  for (const LambdaExpr* lambda : lambdas) {
    Body body(unit, *lambda->getCallOperator(), around);
    body.initialises_ = of.getQualifiedNameAsString();
    body.lambda_call(*lambda, nullptr, {}, lambda->getBeginLoc());
  }
}

// What happens where a lambda is made: the values that it declares are computed. Those that lead to
// objects are handed over where it is called.
ExprId Body::made_with(const Expr* callable) {
  const auto* lambda = llvm::dyn_cast<LambdaExpr>(callable_core(callable));
  if (lambda == nullptr) return core::kNoExpr;  // it was made elsewhere
  std::vector<ExprId> values;
  for (const clang::LambdaCapture& capture : lambda->captures()) {
    const auto* variable_of =
        capture.capturesVariable() ? llvm::dyn_cast<VarDecl>(capture.getCapturedVar()) : nullptr;
    if (variable_of == nullptr || !variable_of->isInitCapture()) continue;
    if (!is_value(unit_.type_of(variable_of->getType()))) continue;
    const bool refers = variable_of->getType()->isReferenceType();
    values.push_back(expr(variable_of->getInit(), refers ? Use::kName : Use::kRead).id);
  }
  return sequence(std::move(values), lambda->getBeginLoc());
}

// Something that can be called, given to somebody: called there, or later without any locks.
ExprId Body::callback(const Expr* of, llvm::ArrayRef<const Expr*> after, Runs runs) {
  const ExprId made = made_with(of);
  return sequence({made, run_callback(of, after, runs)}, of->getExprLoc());
}

ExprId Body::run_callback(const Expr* of, llvm::ArrayRef<const Expr*> after, Runs runs) {
  const SourceLocation at = of->getExprLoc();
  ExprId called = core::kNoExpr;
  if (const LambdaExpr* lambda = lambda_in(of)) {
    called = lambda_call(*lambda, nullptr, {}, at);
  } else if (const FunctionDecl* function = function_in(of)) {
    if (unit_.is_foreign(*function)) return core::kNoExpr;
    const auto* method = llvm::dyn_cast<CXXMethodDecl>(function);
    if (method != nullptr &&
        (unit_.is_lock_class(*method->getParent()) || unit_.is_guard_class(*method->getParent()))) {
      return core::kNoExpr;
    }
    const Unit::Home home = unit_.declare(*function);
    std::vector<ExprId> children = {core::kNoExpr};
    std::size_t first = 0;
    if (method != nullptr && method->isImplicitObjectMemberFunction()) {
      const core::Type owner = {.name = home.class_name};
      Value receiver;
      if (!after.empty()) receiver = expr(after[0], Use::kName);
      children[0] = object(receiver, owner, at);
      first = 1;
    }
    for (unsigned i = 0; i < function->getNumParams(); ++i) {
      const core::Type type = unit_.type_of(function->getParamDecl(i)->getType());
      Value value;
      if (first + i < after.size()) value = expr(after[first + i], Use::kName);
      children.push_back(coerce(value, type, at));
    }
    std::string callee = home.name;
    if (method != nullptr && home.is_static) callee = home.class_name + "::" + home.name;
    called = make(Kind::kCall, at, std::move(children), callee);
  }
  if (runs == Runs::kLater) {  // by whom, and what becomes of what it knows?
    for (const Expr* argument : after) unit_.keep(argument->getType());
    if (const LambdaExpr* lambda = lambda_in(of)) {
      for (const clang::FieldDecl* captured : lambda->getLambdaClass()->fields()) {
        unit_.keep(captured->getType());
      }
    }
  }
  if (called == core::kNoExpr) return called;
  if (runs == Runs::kOnce) return called;
  if (runs == Runs::kLater) return make(Kind::kFork, at, {called});
  return make(Kind::kWhile, at, {constant("\"?\"", at), called});
}

// Whether the function calls this parameter and does nothing else with it.
bool Body::runs_at_once(const FunctionDecl& callee, unsigned parameter, unsigned depth) {
  const FunctionDecl* definition = callee.getDefinition();
  if (definition == nullptr || !definition->hasBody() || unit_.is_foreign(callee) || depth > 3 ||
      parameter >= definition->getNumParams()) {
    if (parameter >= callee.getNumParams()) return false;
    const std::string type = callee.getParamDecl(parameter)->getType().getAsString();
    return type.find("function_ref") != std::string::npos ||
           type.find("FunctionRef") != std::string::npos;
  }
  const clang::ParmVarDecl* of = definition->getParamDecl(parameter);
  const auto names_it = [&](const Expr* expression) {
    const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(callable_core(expression));
    return reference != nullptr && reference->getDecl() == of;
  };
  const std::function<bool(const clang::Stmt*)> only_calls = [&](const clang::Stmt* in) -> bool {
    if (in == nullptr) return true;
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(in)) {
      const bool operator_call = llvm::isa<clang::CXXOperatorCallExpr>(call);
      const FunctionDecl* inner = call->getDirectCallee();
      for (unsigned i = 0; i < call->getNumArgs(); ++i) {
        if (operator_call && i == 0 && names_it(call->getArg(0))) continue;
        if (names_it(call->getArg(i))) {
          if (inner == nullptr) return false;
          const bool known = unit_.is_foreign(*inner) ? calls_at_once(inner->getNameAsString())
                                                      : runs_at_once(*inner, i, depth + 1);
          if (!known) return false;
        } else if (!only_calls(call->getArg(i))) {
          return false;
        }
      }
      return operator_call || names_it(call->getCallee()) || only_calls(call->getCallee());
    }
    if (const auto* expression = llvm::dyn_cast<Expr>(in)) {
      if (llvm::isa<clang::DeclRefExpr>(expression)) return !names_it(expression);
    }
    return std::ranges::all_of(in->children(), only_calls);
  };
  return only_calls(definition->getBody());
}

Body::Runs Body::how_it_runs(const FunctionDecl& callee, unsigned parameter) {
  if (!runs_at_once(callee, parameter)) return Runs::kLater;
  return runs_once(callee, parameter) ? Runs::kOnce : Runs::kOften;
}

// Of a parameter that is only called: whether that is so at one place, and not in a loop.
bool Body::runs_once(const FunctionDecl& callee, unsigned parameter, unsigned depth) {
  const FunctionDecl* definition = callee.getDefinition();
  if (definition == nullptr || !definition->hasBody() || depth > 3 ||
      parameter >= definition->getNumParams()) {
    return false;
  }
  const clang::ParmVarDecl* of = definition->getParamDecl(parameter);
  unsigned places = 0;
  bool again = false;
  const std::function<void(const clang::Stmt*)> look = [&](const clang::Stmt* in) {
    if (in == nullptr || again) return;
    const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(in);
    if (reference != nullptr && reference->getDecl() == of) ++places;
    const unsigned before = places;
    for (const clang::Stmt* child : in->children()) look(child);
    if (places == before) return;
    again |= llvm::isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt, clang::CXXForRangeStmt,
                       clang::LabelStmt, LambdaExpr>(in);
    const auto* call = llvm::dyn_cast<clang::CallExpr>(in);
    const FunctionDecl* inner = call == nullptr ? nullptr : call->getDirectCallee();
    if (inner == nullptr) return;
    const bool operator_call = llvm::isa<clang::CXXOperatorCallExpr>(call);
    for (unsigned i = operator_call ? 1 : 0; i < call->getNumArgs(); ++i) {
      const auto* given = llvm::dyn_cast<clang::DeclRefExpr>(callable_core(call->getArg(i)));
      if (given == nullptr || given->getDecl() != of) continue;
      const bool only_named = is_of_std(*inner) && inner->getDeclName().isIdentifier() &&
                              (plain_name(*inner) == "move" || plain_name(*inner) == "forward");
      again |= !only_named && (operator_call || !runs_once(*inner, i, depth + 1));
    }
  };
  look(definition->getBody());
  return places == 1 && !again;
}

bool Body::is_lambda(clang::QualType type) {
  const clang::CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record != nullptr && record->isLambda();
}

// A lambda that this function was given, and only calls. There is an instance of this function for
// it, so whoever gave it sees what becomes of it, and has counted it; but who calls a lambda does
// not look into it.
bool Body::is_counted_by_caller(const Expr* callable) {
  if (lambda_ != nullptr || !is_lambda(callable->getType())) return false;
  const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(callable_core(callable));
  if (reference == nullptr) return false;
  for (unsigned i = 0; i < function_.getNumParams(); ++i) {
    if (function_.getParamDecl(i) == reference->getDecl()) return runs_at_once(function_, i);
  }
  return false;
}

// A lambda from somewhere that the callee will only call, so it leaves counting it to us.
bool Body::is_uncounted(const Expr* argument, const FunctionDecl& callee, unsigned i) {
  return is_lambda(argument->getType()) && !is_counted_by_caller(argument) &&
         runs_at_once(callee, i);
}

// The locks that the function holds wherever it calls the parameter, as the caller would name them.
std::vector<LockPath> Body::locks_around(const FunctionDecl& callee, unsigned parameter,
                                         const Scope& inside) {
  const FunctionDecl* definition = callee.getDefinition();
  if (definition == nullptr || parameter >= definition->getNumParams()) return {};
  const clang::ParmVarDecl* of = definition->getParamDecl(parameter);
  std::optional<std::vector<LockPath>> found;
  std::vector<LockPath> held;
  const std::function<void(const clang::Stmt*)> look = [&](const clang::Stmt* in) {
    if (in == nullptr) return;
    const auto* call = llvm::dyn_cast<clang::CallExpr>(in);
    const auto does = call == nullptr ? std::nullopt : unit_.lock_call(*call, inside);
    if (does && does->kind == LockCall::Kind::kUnlock && does->guard == nullptr) found.emplace();
    const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(in);
    if (reference != nullptr && reference->getDecl() == of) {
      if (!found) found = held;
      std::erase_if(*found, [&](const LockPath& lock) {
        return std::ranges::find(held, lock) == held.end();
      });
      return;
    }
    const std::size_t outside = held.size();
    for (const clang::Stmt* child : in->children()) {
      const auto* declares = llvm::dyn_cast_or_null<clang::DeclStmt>(child);
      const auto* variable_of = declares != nullptr && declares->isSingleDecl()
                                    ? llvm::dyn_cast<VarDecl>(declares->getSingleDecl())
                                    : nullptr;
      const clang::RecordDecl* record =
          variable_of == nullptr ? nullptr : variable_of->getType()->getAsRecordDecl();
      if (record == nullptr || !unit_.is_guard_class(*record)) {
        look(child);
        continue;
      }
      const clang::CXXConstructExpr* made = construction_of(variable_of->getInit());
      if (made == nullptr || is_told(*variable_of, definition->getBody())) continue;
      for (LockPath& lock : unit_.guard_paths(*made, inside)) held.push_back(std::move(lock));
    }
    held.resize(outside);
  };
  look(definition->getBody());
  return std::move(found).value_or(std::vector<LockPath>());
}

}  // namespace tomos::cpp
