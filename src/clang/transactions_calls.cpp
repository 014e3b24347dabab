// Calls: of the project's functions, of threads and locks, and of the system's.
#include <algorithm>
#include <array>
#include <optional>

#include "clang/known_calls.h"
#include "clang/transactions.h"
#include "clang/unit.h"

namespace tomos::cpp {

using clang::Expr;
using clang::FunctionDecl;
using clang::QualType;
using clang::SourceLocation;
using tm::NodeId;

namespace {

bool is_callable_type(QualType type) {
  type = type.getNonReferenceType();
  if (type->isFunctionPointerType() || type->isFunctionType()) return true;
  const auto* record = type->getAsCXXRecordDecl();
  return record != nullptr &&
         (record->isLambda() || record->getNameAsString().find("function") != std::string::npos);
}

std::optional<tm::Node::Kind> lock_kind(llvm::StringRef name) {
  if (name.starts_with("lock")) return tm::Node::Kind::kLock;
  if (name.starts_with("try_lock")) return tm::Node::Kind::kTry;
  if (name.starts_with("unlock")) return tm::Node::Kind::kUnlock;
  return std::nullopt;
}

bool is_named(llvm::StringRef name, std::initializer_list<llvm::StringRef> names) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

NodeId TransactionUnit::argument(const Expr* of, QualType parameter) {
  if (!parameter.isNull() && parameter->isReferenceType()) {
    return address(place(of), of->getExprLoc());
  }
  return value(of);
}

// Its place.
NodeId TransactionUnit::object_of(const clang::CallExpr& of) {
  if (const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(&of)) {
    const Expr* object = member->getImplicitObjectArgument();
    if (object->getType()->isPointerType()) return deref(value(object), of.getExprLoc());
    return place(object);
  }
  return place(of.getArg(0));
}

NodeId TransactionUnit::fork(llvm::ArrayRef<const Expr*> arguments, SourceLocation at) {
  const Expr* callee = arguments[0]->IgnoreImplicit();
  std::vector<NodeId> children;
  std::string name;
  const auto* address_of = llvm::dyn_cast<clang::UnaryOperator>(callee);
  const Expr* inner = address_of != nullptr ? address_of->getSubExpr()->IgnoreParens() : callee;
  const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(inner);
  const auto* function =
      reference == nullptr ? nullptr : llvm::dyn_cast<FunctionDecl>(reference->getDecl());
  const auto* record = callee->getType().getNonReferenceType()->getAsCXXRecordDecl();
  const FunctionDecl* called = function;
  if (function != nullptr) {
    name = declare(*function);
  } else if (record != nullptr && !record->isLambda() && is_object(callee->getType())) {
    for (const clang::CXXMethodDecl* method : record->methods()) {
      if (method->getOverloadedOperator() == clang::OO_Call) called = method;
    }
    if (called != nullptr) {
      name = declare(*called);
      children.push_back(address(place(callee), at));
    }
  }
  if (name.empty()) {
    children.push_back(callee->isGLValue() && !is_object(callee->getType())
                           ? load(place(callee), at)
                           : value(callee));
  }
  const bool is_method =
      function != nullptr && llvm::isa<clang::CXXMethodDecl>(function) &&
      llvm::cast<clang::CXXMethodDecl>(function)->isImplicitObjectMemberFunction();
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const Expr* one = arguments[i];
    const Expr* plain = one->IgnoreImplicit();
    // Threads are given copies; std::ref is an address.
    if (is_method && i == 1 && is_object(plain->getType())) {
      children.push_back(address(place(plain), at));
    } else if (plain->isGLValue() && is_object(plain->getType())) {
      const NodeId temp = local(temporary(), at);
      const NodeId filled = initialize(deref(load(temp, at), at), plain->getType(), plain);
      children.push_back(
          make(Kind::kSequence, at,
               {make(Kind::kAssign, at, {temp, own_object(at)}), filled, load(temp, at)}));
    } else if (plain->isGLValue()) {
      children.push_back(load(place(plain), at));
    } else {
      children.push_back(value(one));
    }
  }
  return make(Kind::kFork, at, std::move(children), name);
}

// What is given to a function that only calls it runs here, on what else is given.
NodeId TransactionUnit::run_callables(llvm::ArrayRef<const Expr*> arguments, SourceLocation at,
                                      std::vector<NodeId> values) {
  std::vector<NodeId> callables;
  for (const Expr* one : arguments) {
    const NodeId made =
        one->isGLValue() && !is_object(one->getType()) ? load(place(one), at) : value(one);
    (is_callable_type(one->getType()) ? callables : values).push_back(made);
  }
  const NodeId given = make(Kind::kOperator, at, std::move(values));
  std::vector<NodeId> parts;
  for (const NodeId callable : callables) {
    const NodeId call_it = make(Kind::kIndirect, at, {callable, given, given});
    parts.push_back(make(Kind::kLoop, at, {constant(at), call_it}));
  }
  parts.push_back(given);
  return make(Kind::kSequence, at, std::move(parts));
}

NodeId TransactionUnit::lock_node(Kind kind, SourceLocation at, NodeId mutex, bool shared) {
  const NodeId made = make(kind, at, {mutex});
  program_.nodes[static_cast<std::size_t>(made)].shared = shared;
  return made;
}

NodeId TransactionUnit::thread_function(llvm::StringRef name, const clang::CallExpr& of) {
  const SourceLocation at = of.getExprLoc();
  const auto arg = [&](unsigned i) { return of.getArg(i); };
  const unsigned count = of.getNumArgs();
  if ((name == "pthread_create" && count == 4) || (name == "thrd_create" && count == 3)) {
    const unsigned first = name == "pthread_create" ? 2 : 1;
    std::vector<NodeId> children = {value(arg(first)), value(arg(first + 1))};
    const NodeId made = make(Kind::kFork, at, std::move(children));
    return make(Kind::kAssign, at, {deref(value(arg(0)), at), made});
  }
  if (name == "pthread_join" || name == "thrd_join") {
    const Expr* handle = arg(0)->IgnoreImpCasts();
    return make(Kind::kJoin, at, {handle->isGLValue() ? place(handle) : deref(value(handle), at)});
  }
  const bool shared = name.contains("rdlock");
  if (is_named(name, {"pthread_mutex_lock", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock",
                      "pthread_spin_lock", "mtx_lock"})) {
    return lock_node(Kind::kLock, at, deref(value(arg(0)), at), shared);
  }
  if (is_named(name, {"pthread_mutex_trylock", "pthread_mutex_timedlock", "pthread_mutex_clocklock",
                      "pthread_rwlock_tryrdlock", "pthread_rwlock_trywrlock",
                      "pthread_rwlock_timedrdlock", "pthread_rwlock_timedwrlock",
                      "pthread_spin_trylock", "mtx_trylock", "mtx_timedlock"})) {
    return negated_if(true, lock_node(Kind::kTry, at, deref(value(arg(0)), at), shared));
  }
  if (is_named(name, {"pthread_mutex_unlock", "pthread_rwlock_unlock", "pthread_spin_unlock",
                      "mtx_unlock"})) {
    return make(Kind::kUnlock, at, {deref(value(arg(0)), at)});
  }
  if (is_named(name, {"pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait",
                      "cnd_wait", "cnd_timedwait"})) {
    return make(Kind::kWait, at, {deref(value(arg(1)), at)});
  }
  if (is_named(name, {"pthread_cond_broadcast", "pthread_cond_destroy", "pthread_cond_init",
                      "pthread_cond_signal", "pthread_mutex_destroy", "pthread_mutex_init",
                      "pthread_rwlock_destroy", "pthread_rwlock_init"})) {
    return make(Kind::kSequence, at, {operands(&of), number(0, at)});  // they do not fail
  }
  return tm::kNoNode;
}

// std::make_unique and std::make_shared: the constructor is not in the syntax tree; one that takes
// as many arguments is.
NodeId TransactionUnit::make_smart(const clang::CallExpr& of) {
  const SourceLocation at = of.getExprLoc();
  const NodeId temp = local(temporary(), at);
  std::vector<NodeId> parts = {make(Kind::kAssign, at, {temp, make(Kind::kNew, at)})};
  const auto* smart = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(
      of.getType()->getAsCXXRecordDecl());
  const QualType inner =
      smart == nullptr || smart->getTemplateArgs().size() == 0 ||
              smart->getTemplateArgs()[0].getKind() != clang::TemplateArgument::Type
          ? QualType()
          : smart->getTemplateArgs()[0].getAsType();
  const auto* record = inner.isNull() ? nullptr : inner->getAsCXXRecordDecl();
  const std::vector<const Expr*> arguments(of.arg_begin(), of.arg_end());
  if (!inner.isNull() && !guard_kind(inner).empty()) {
    return made_guard(arguments, guard_kind(inner) == "shared_lock", at);
  }
  bool is_found = false;
  if (record != nullptr && !is_foreign(*record) && record->hasDefinition()) {
    for (const clang::CXXConstructorDecl* one : record->ctors()) {
      if (one->getNumParams() != of.getNumArgs() || one->isCopyOrMoveConstructor() ||
          one->getDefinition() == nullptr) {
        continue;
      }
      std::vector<NodeId> children = {load(temp, at)};
      for (unsigned i = 0; i < of.getNumArgs(); ++i) {
        children.push_back(argument(of.getArg(i), one->getParamDecl(i)->getType()));
      }
      parts.push_back(make(Kind::kCall, at, std::move(children), declare(*one)));
      is_found = true;
      break;
    }
  }
  if (!is_found) parts.push_back(operands(arguments, at));
  parts.push_back(load(temp, at));
  return make(Kind::kSequence, at, std::move(parts));
}

NodeId TransactionUnit::foreign_function(const FunctionDecl& function, const clang::CallExpr& of) {
  const SourceLocation at = of.getExprLoc();
  const llvm::StringRef name = plain_name(function);
  const bool in_std = is_of_std(function);
  const std::vector<const Expr*> arguments(of.arg_begin(), of.arg_end());
  if (const NodeId made = thread_function(name, of); made != tm::kNoNode) return made;
  if (in_std && name == "async") {
    const bool has_policy = arguments[0]->getType()->isEnumeralType();
    return fork(llvm::ArrayRef(arguments).drop_front(has_policy ? 1 : 0), at);
  }
  if (in_std && name == "lock") {
    std::vector<NodeId> parts;
    for (const Expr* one : arguments) {
      const NodeId what = place(one);
      const bool is_guard = !guard_kind(one->getType()).empty();
      parts.push_back(make(Kind::kLock, at, {is_guard ? mutex_of(what, at) : what}));
    }
    return make(Kind::kSequence, at, std::move(parts));
  }
  if (in_std && (name == "make_unique" || name == "make_shared")) return make_smart(of);
  if (in_std && arguments.size() == 1 &&
      is_named(name, {"move", "forward", "ref", "cref", "addressof", "as_const"})) {
    return address(place(arguments[0]), at);
  }
  if (in_std && arguments.size() == 1 && name == "get") return address(place(arguments[0]), at);
  if (in_std && name == "swap" && arguments.size() == 2) {
    const NodeId left = place(arguments[0]);
    const NodeId right = place(arguments[1]);
    if (holds_guard(arguments[0]->getType())) return swapped(left, right, at);
    return make(Kind::kSequence, at,
                {make(Kind::kUpdate, at, {left, load(right, at)}),
                 make(Kind::kUpdate, at, {right, load(left, at)})});
  }
  if (allocates(std::string_view(name.data(), name.size()))) {
    return make(Kind::kSequence, at, {operands(arguments, at), make(Kind::kNew, at)});
  }
  if (arguments.size() >= 2 &&
      is_named(name, {"memcpy", "memmove", "strcpy", "strncpy", "memset"})) {
    const NodeId size = operands(llvm::ArrayRef(arguments).drop_front(2), at);
    const NodeId from = value(arguments[1]);
    const NodeId what = name == "memset" ? from : load(deref(from, at), at);
    return make(Kind::kSequence, at,
                {size, make(Kind::kAssign, at, {deref(value(arguments[0]), at), what})});
  }
  if (calls_at_once(std::string_view(name.data(), name.size())) &&
      std::ranges::any_of(arguments,
                          [](const Expr* one) { return is_callable_type(one->getType()); })) {
    return run_callables(arguments, at, {});
  }
  // The system's own functions know nothing of the program's data.
  const NodeId made = operands(arguments, at);
  if (of.getType()->isArithmeticType()) program_.nodes[static_cast<std::size_t>(made)].plain = true;
  return made;
}

NodeId TransactionUnit::foreign_method(const clang::CXXMethodDecl& method,
                                       const clang::CallExpr& of,
                                       llvm::ArrayRef<const Expr*> arguments) {
  const SourceLocation at = of.getExprLoc();
  const clang::CXXRecordDecl& record = *method.getParent();
  const QualType type = context_.getRecordType(&record);
  const llvm::StringRef name = plain_name(method);
  const std::string owner = record.getNameAsString();
  if (is_thread(type) || owner.find("future") != std::string::npos) {
    if (is_named(name, {"join", "get", "wait"})) {
      return make(Kind::kJoin, at, {object_of(of)});
    }
  }
  if (is_mutex(type)) {
    if (const auto kind = lock_kind(name)) {
      return lock_node(*kind, at, object_of(of), name.contains("shared"));
    }
  }
  const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(&of);
  if (!guard_kind(type).empty() && member != nullptr) {
    if (const auto kind = lock_kind(name)) {
      return lock_node(*kind, at, mutex_of(object_of(of), at), guard_kind(type) == "shared_lock");
    }
  }
  if (holds_guard(type)) {
    const NodeId done = guard_method(method, of, arguments);
    if (done != tm::kNoNode) return done;
  }
  if (owner.starts_with("condition_variable")) {
    if (!name.starts_with("wait") || arguments.empty()) return constant(at);
    std::vector<NodeId> parts;
    const NodeId with = place(arguments[0]);
    const bool is_plain = is_mutex(arguments[0]->getType());
    parts.push_back(make(Kind::kWait, at, {is_plain ? with : mutex_of(with, at)}));
    parts.push_back(run_callables(arguments.drop_front(), at, {}));
    return make(Kind::kSequence, at, std::move(parts));
  }
  const clang::OverloadedOperatorKind kind = method.getOverloadedOperator();
  if (owner.find("function") != std::string::npos && kind == clang::OO_Call) {
    std::vector<NodeId> children = {load(object_of(of), at)};
    for (const Expr* one : arguments) children.push_back(value(one));
    return make(Kind::kIndirect, at, std::move(children));
  }
  if (is_pointer_like(type)) {
    if (kind == clang::OO_Arrow || kind == clang::OO_Star || kind == clang::OO_Subscript ||
        name == "get" || llvm::isa<clang::CXXConversionDecl>(method)) {
      const NodeId led = load(object_of(of), at);
      return arguments.empty() ? led : make(Kind::kSequence, at, {operands(arguments, at), led});
    }
    if (kind == clang::OO_Equal || name == "reset") {
      const NodeId with = arguments.empty() ? constant(at) : value(arguments[0]);
      return make(Kind::kAssign, at, {object_of(of), with});
    }
    if (kind == clang::OO_EqualEqual || kind == clang::OO_ExclaimEqual) {
      return negated_if(kind == clang::OO_ExclaimEqual,
                        make(Kind::kCompare, at, {load(object_of(of), at), value(arguments[0])}));
    }
    std::vector<NodeId> parts = {operands(arguments, at)};
    if (name == "swap" && arguments.size() == 1) {
      parts.push_back(make(Kind::kUpdate, at, {place(arguments[0]), load(object_of(of), at)}));
    }
    if (!method.isConst() && !only_reads(method.getNameAsString())) {
      parts.push_back(make(Kind::kUpdate, at, {object_of(of), parts.front()}));
    }
    parts.push_back(load(object_of(of), at));
    return make(Kind::kSequence, at, std::move(parts));
  }
  if (kind == clang::OO_Equal && arguments.size() == 1) {
    const Expr* from = arguments[0];
    const NodeId with = from->isGLValue() ? load(place(from), at) : value(from);
    return make(Kind::kAssign, at, {object_of(of), with});
  }
  std::vector<NodeId> children = {object_of(of)};
  const QualType element = [&]() -> QualType {
    const auto* container = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(&record);
    if (container == nullptr || container->getTemplateArgs().size() == 0 ||
        container->getTemplateArgs()[0].getKind() != clang::TemplateArgument::Type) {
      return {};
    }
    return container->getTemplateArgs()[0].getAsType();
  }();
  if (!element.isNull() && is_thread(element) && name.starts_with("emplace")) {
    children.push_back(fork(arguments, at));
  } else {
    for (const Expr* one : arguments) {
      children.push_back(one->isGLValue() && !is_object(one->getType()) ? load(place(one), at)
                                                                        : value(one));
    }
  }
  const QualType result = method.getReturnType();
  const bool leads_in =
      result->isReferenceType() || result->isPointerType() || is_pointer_like(result);
  return program_.add(
      {.kind = Kind::kContainer,
       .writes = !method.isConst() && !only_reads(method.getNameAsString()),
       .quiet = owner.starts_with("atomic") || owner.starts_with("__atomic"),
       .pointer = leads_in,
       .name = method.getQualifiedNameAsString(),
       .children = std::move(children),
       .position = position(member != nullptr ? member->getExprLoc() : of.getBeginLoc())});
}

NodeId TransactionUnit::call(const clang::CallExpr& of) {
  const NodeId made = called(of);
  const FunctionDecl* callee = of.getDirectCallee();
  if (callee == nullptr || !callee->isNoReturn()) return made;
  return make(Kind::kSequence, of.getExprLoc(), {made, make(Kind::kEnd, of.getExprLoc())});
}

NodeId TransactionUnit::called(const clang::CallExpr& of) {
  const SourceLocation at = of.getExprLoc();
  const FunctionDecl* callee = of.getDirectCallee();
  std::vector<const Expr*> arguments(of.arg_begin(), of.arg_end());
  if (callee == nullptr) {
    std::vector<NodeId> children = {value(of.getCallee())};
    for (const Expr* one : arguments) children.push_back(value(one));
    return make(Kind::kIndirect, at, std::move(children));
  }
  const std::string qualified = callee->getQualifiedNameAsString();
  if (std::ranges::find(styles_.lambdas, qualified) != styles_.lambdas.end()) {
    return atomic(run_callables(arguments, at, {}), of.getBeginLoc(), of.getEndLoc());
  }
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(callee);
  const bool on_object = method != nullptr && method->isImplicitObjectMemberFunction();
  const bool is_operator = llvm::isa<clang::CXXOperatorCallExpr>(of);
  const bool on_lambda = method != nullptr && method->getParent()->isLambda();
  // A static operator() is given its object, too.
  const Expr* const first = is_operator && (on_object || on_lambda) ? arguments[0] : nullptr;
  if (first != nullptr && !method->isExplicitObjectMemberFunction()) {
    arguments.erase(arguments.begin());
  }
  if (on_lambda) {
    const auto* by_name = llvm::dyn_cast<clang::CXXMemberCallExpr>(&of);
    const Expr* const closure = by_name != nullptr ? by_name->getImplicitObjectArgument() : first;
    const NodeId of_closure = closure == nullptr ? constant(at) : value(closure);
    // The plain function that it turns into does the same.
    if (llvm::isa<clang::CXXConversionDecl>(callee)) return of_closure;
    std::vector<NodeId> children = {of_closure};
    for (unsigned i = 0; i < arguments.size(); ++i) {
      const QualType parameter =
          i < callee->getNumParams() ? callee->getParamDecl(i)->getType() : QualType();
      children.push_back(argument(arguments[i], parameter));
    }
    return make(Kind::kIndirect, at, std::move(children));
  }
  if (is_foreign(*callee)) {
    return on_object ? foreign_method(*method, of, arguments) : foreign_function(*callee, of);
  }
  if (on_object && !method->isUserProvided() && arguments.size() == 1 &&
      (method->isCopyAssignmentOperator() || method->isMoveAssignmentOperator())) {
    return make(Kind::kCopy, at, {object_of(of), place(arguments[0])},
                class_name(*method->getParent()));
  }
  std::vector<NodeId> children;
  if (on_object) children.push_back(address(object_of(of), at));
  for (unsigned i = 0; i < arguments.size(); ++i) {
    const QualType parameter =
        i < callee->getNumParams() ? callee->getParamDecl(i)->getType() : QualType();
    children.push_back(argument(arguments[i], parameter));
  }
  return make(Kind::kCall, at, std::move(children), declare(*callee));
}

}  // namespace tomos::cpp
