// Calls of a driver: its own functions are followed. Those of the system: driver_foreign.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "clang/driver_types.h"
#include "clang/drivers.h"
#include "clang/places.h"
#include "clang/unit.h"

namespace tomos::cpp {

using clang::Expr;
using clang::FunctionDecl;
using clang::QualType;
using clang::SourceLocation;

namespace {

constexpr std::size_t kDeepest = 64;

bool is_marked(const FunctionDecl& function, llvm::StringRef with) {
  for (const FunctionDecl* one : function.redecls()) {
    for (const auto* attribute : one->specific_attrs<clang::AnnotateAttr>()) {
      if (attribute->getAnnotation() == with) return true;
    }
  }
  return false;
}

}  // namespace

// ---- what is atomic ----

// A wait on a condition, here or in what is called.
bool DriverUnit::waits(const clang::Stmt* of, std::set<const FunctionDecl*>& seen) const {
  if (of == nullptr) return false;
  if (const auto* call_of = llvm::dyn_cast<clang::CallExpr>(of)) {
    const FunctionDecl* callee = call_of->getDirectCallee();
    if (callee != nullptr) {
      const llvm::StringRef name = plain_name(*callee);
      const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(callee);
      const bool on_condition =
          method != nullptr && is_condition_type(context_.getRecordType(method->getParent()));
      if (name.starts_with("pthread_cond_") && name.ends_with("wait")) return true;
      if (on_condition && name.starts_with("wait")) return true;
      const Meeting kind = method == nullptr
                               ? Meeting::kNone
                               : meeting_of(context_.getRecordType(method->getParent()));
      const bool on_meeting = kind == Meeting::kLatch || kind == Meeting::kBarrier;
      const bool on_future =
          method != nullptr && is_future_type(context_.getRecordType(method->getParent()));
      if (on_future && (name == "get" || name == "wait")) return true;
      if ((on_meeting && name.ends_with("wait")) || name == "pthread_barrier_wait") return true;
      const FunctionDecl* definition = callee->getDefinition();
      if (definition != nullptr && !is_foreign(*definition) && seen.insert(definition).second &&
          waits(definition->getBody(), seen)) {
        return true;
      }
    }
  }
  return std::ranges::any_of(of->children(),
                             [&](const clang::Stmt* child) { return waits(child, seen); });
}

// By default those that others can call: see docs/run.md.
bool DriverUnit::is_transaction(const FunctionDecl& function) {
  if (is_marked(function, "tomos::not_atomic")) return false;
  if (is_marked(function, "tomos::atomic")) return true;
  if (is_lambda(function) || !function.isExternallyVisible()) return false;
  if (llvm::isa<clang::CXXConstructorDecl>(function) ||
      llvm::isa<clang::CXXDestructorDecl>(function) || function.getAccess() == clang::AS_private) {
    return false;
  }
  std::set<const FunctionDecl*> seen;
  if (!waits(function.getBody(), seen)) return true;
  abstracted("functions that wait on a condition are no transactions:",
             function.getQualifiedNameAsString(), function.getLocation());
  return false;
}

// ---- calls of the driver's own functions ----

Meaning DriverUnit::parameter(const clang::VarDecl& of, const Value& value, SourceLocation at) {
  const QualType type = of.getType().getNonReferenceType();
  if (of.getType()->isReferenceType()) {
    if (value.kind == Value::Kind::kPointer) {
      return {.kind = Meaning::Kind::kSpot, .spot = value.spot};
    }
    return {.kind = Meaning::Kind::kValue, .value = value};
  }
  const Leaf leaf = leaf_of(type);
  // What cannot be copied was moved here: it is the same one.
  const bool moved = leaf == Leaf::kList || leaf == Leaf::kThread || leaf == Leaf::kMeeting ||
                     leaf == Leaf::kGuard || (leaf == Leaf::kRecord && is_ended(type));
  if (moved && value.kind == Value::Kind::kPointer) {
    return {.kind = Meaning::Kind::kSpot, .spot = value.spot};
  }
  if (value.kind == Value::Kind::kThread) {
    const Spot own{.path = unique(thread_ + " " + of.getNameAsString()), .type = type};
    write(own, value, at);
    return {.kind = Meaning::Kind::kSpot, .spot = own};
  }
  const bool assigned_to = uses_.assigned.contains(&of) || uses_.escaped.contains(&of);
  if (leaf == Leaf::kRecord && value.kind == Value::Kind::kPointer) {
    const Spot own{.path = unique(thread_ + " " + of.getNameAsString()), .type = type};
    copy(value.spot, own, at);
    return {.kind = Meaning::Kind::kSpot, .spot = own};
  }
  const bool scalar = leaf == Leaf::kTruth || leaf == Leaf::kNumber;
  if (!assigned_to && value.kind != Value::Kind::kFormula) {
    return {.kind = Meaning::Kind::kValue, .value = value};
  }
  if (!scalar) return {};
  if (uses_.escaped.contains(&of)) {
    const Spot own{.path = unique(thread_ + " " + of.getNameAsString()), .type = type};
    write(own, value, at);
    return {.kind = Meaning::Kind::kSpot, .spot = own};
  }
  const std::string key = fmt::format("{} at {}", of.getNameAsString(), text_of(of.getLocation()));
  if (leaf == Leaf::kNumber) assigned(key, value);
  if (leaf == Leaf::kNumber && !is_kept(key)) return {};
  const std::string name = local(of.getNameAsString(), type_of(key, leaf));
  emit(fmt::format("{} = {};", name, known(value, leaf == Leaf::kTruth)), at);
  return {.kind = Meaning::Kind::kLocal, .spot = {.path = key, .type = type}, .name = name};
}

Value DriverUnit::argument(const Expr* of, QualType parameter) {
  if (!parameter.isNull() && parameter->isReferenceType()) {
    const Meaning where = place(of);
    if (where.kind == Meaning::Kind::kSpot) return Value::leading_to(where.spot);
    return load(where, of->getExprLoc());
  }
  const Value found = value(of);
  return parameter.isNull() ? found : as_type(found, of->getType(), parameter);
}

Value DriverUnit::invoke(const Value& callable, const std::vector<Value>& arguments,
                         SourceLocation at, bool entry) {
  if (callable.kind == Value::Kind::kPointer) {  // an object that can be called
    const auto* record = callable.spot.type->getAsCXXRecordDecl();
    for (const auto* method : record == nullptr ? clang::CXXRecordDecl::method_range(
                                                      clang::CXXRecordDecl::method_iterator(),
                                                      clang::CXXRecordDecl::method_iterator())
                                                : record->methods()) {
      if (method->getOverloadedOperator() == clang::OO_Call) {
        return invoke(*method, callable.spot, arguments, nullptr, at, entry);
      }
    }
  }
  if (callable.kind != Value::Kind::kCallable || callable.function == nullptr) {
    refuse(at, "which function is called here is not known", "Call it by its name.");
  }
  std::optional<Spot> self;
  std::vector<Value> rest = arguments;
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(callable.function);
  if (callable.closure) {
    self = callable.closure->self;
  } else if (method != nullptr && method->isImplicitObjectMemberFunction()) {
    if (rest.empty() || rest.front().kind != Value::Kind::kPointer) {
      refuse(at, "which object this is called for is not known", "");
    }
    self = rest.front().spot;
    rest.erase(rest.begin());
  }
  return invoke(*callable.function, self, rest, callable.closure.get(), at, entry);
}

Value DriverUnit::invoke(const FunctionDecl& function, std::optional<Spot> self,
                         const std::vector<Value>& arguments, const Closure* closure,
                         SourceLocation at, bool entry) {
  const FunctionDecl* definition = function.getDefinition();
  const std::string name = function.getQualifiedNameAsString();
  if (definition == nullptr || definition->getBody() == nullptr) {
    refuse(at, fmt::format("{} has no body here: what it does is not known", name),
           "Put the driver and what it tests into one source file.");
  }
  const bool recursive = std::ranges::any_of(
      frames_, [&](const Frame& frame) { return frame.function == definition; });
  if (recursive || frames_.size() > kDeepest) {
    refuse(at, fmt::format("{} calls itself", name),
           "Calls are followed one by one: write a loop.");
  }
  look_at(definition->getBody());
  const bool is_constructor = llvm::isa<clang::CXXConstructorDecl>(definition);
  const bool atomic =
      !entry && !prologue_ && !in_atomic_ && !not_atomic_ && is_transaction(*definition);
  const bool returns_truth = !definition->getReturnType()->isReferenceType() &&
                             definition->getReturnType()->isBooleanType() && !frames_.empty();
  const std::string result = returns_truth ? temporary("bool") : "";
  std::optional<Spot> object;
  if (const QualType type = definition->getReturnType();
      !frames_.empty() && !type->isReferenceType() && !type->isVoidType() && is_ended(type) &&
      leaf_of(type) != Leaf::kThread && leaf_of(type) != Leaf::kList) {
    object = Spot{.path = unique(fmt::format("{} result of {}", thread_, name)), .type = type};
    initialize_all(*object, at);
  }
  const auto held = holding_.held;
  const bool was_in_atomic = in_atomic_;
  const bool was_not_atomic = not_atomic_;
  if (is_marked(*definition, "tomos::not_atomic")) not_atomic_ = true;
  if (atomic) in_atomic_ = true;
  const auto names = live_names_;
  const bool was_prologue = prologue_;

  Frame frame;
  frame.function = definition;
  frame.self = std::move(self);
  frame.label = fmt::format("end_{}", ++labels_);
  frame.result = result;
  frame.object = object;
  if (closure != nullptr) {
    frame.meanings = closure->captured;
  }
  frame.scopes.emplace_back();
  frames_.push_back(std::move(frame));
  std::vector<DriverLine> lines;
  std::vector<DriverLine>* const out = std::exchange(out_, &lines);
  for (unsigned i = 0; i < definition->getNumParams(); ++i) {
    const clang::ParmVarDecl& one = *definition->getParamDecl(i);
    const Value given = i < arguments.size() ? arguments[i] : Value{};
    frames_.back().meanings[&one] = parameter(one, given, at);
  }
  if (const std::optional<Spot> made_at = frames_.back().self; is_constructor && made_at) {
    const auto& constructor = *llvm::cast<clang::CXXConstructorDecl>(definition);
    for (const clang::CXXCtorInitializer* one : constructor.inits()) {
      if (one->isAnyMemberInitializer()) {
        look_at(one->getInit());
        initialize(field(*made_at, *one->getAnyMember()), one->getInit(),
                   one->getInit()->getExprLoc());
      } else if (const auto* made_by =
                     llvm::dyn_cast<clang::CXXConstructExpr>(one->getInit()->IgnoreImplicit())) {
        if (!guard_type(made_by->getType()).empty()) {
          refuse(at, "a class derives from a guard", "Give it a member that is one.");
        }
        const std::size_t first = frames_.back().temporaries.size();
        construct(*made_at, *made_by);
        end_temporaries(first, at);
      }
    }
  }
  statement(definition->getBody());
  const bool reached = is_reached();
  leave_scope(definition->getEndLoc());
  arrive(frames_.back().holding, reached, definition->getEndLoc());
  // The last thing in the function need not jump to its end.
  const std::string jump = fmt::format("goto {};", frames_.back().label);
  const auto jumps = std::ranges::count(lines, jump, &DriverLine::text);
  if (jumps == 1 && !lines.empty() && lines.back().text == jump) {
    lines.pop_back();
    frames_.back().jumps = false;
  }
  if (frames_.back().jumps) label(frames_.back().label, definition->getEndLoc());
  const Frame done = std::move(frames_.back());
  frames_.pop_back();
  out_ = out;
  in_atomic_ = was_in_atomic;
  not_atomic_ = was_not_atomic;
  live_names_ = names;
  if (!lines.empty()) {
    // Who only takes a lock for the caller, or gives it back, is no transaction.
    const bool is_block = atomic && held == holding_.held;
    const std::string bp_name = identifier(name);
    if (is_block) {
      driver_.names[bp_name] = name;
      open("atomic " + bp_name, definition->getLocation());
    } else if (!done.declared.empty() && !entry) {
      out_->push_back({.text = "{"});
    }
    std::map<std::string, std::vector<std::string>> by_type;
    for (const auto& [variable, type] : done.declared) by_type[type].push_back(variable);
    for (const auto& [type, variables] : by_type) {
      out_->push_back({.text = fmt::format("{} {};", type, fmt::join(variables, ", "))});
    }
    out_->insert(out_->end(), lines.begin(), lines.end());
    if (is_block || (!done.declared.empty() && !entry)) close();
  } else {
    prologue_ = was_prologue;
  }
  if (object) {
    keep_temporary(*object);
    return Value::leading_to(*object);
  }
  if (!result.empty()) {
    const bool steady = done.returned.size() == 1 && done.returned[0].is_number();
    return steady ? done.returned[0] : Value::of(result);
  }
  if (done.returned.size() != 1 || done.returned[0].kind == Value::Kind::kFormula) return {};
  return done.returned[0];
}

// ---- assertions ----

void DriverUnit::assertion(const Expr* condition, SourceLocation at) {
  const Value holds = truth(condition);
  if (holds.is_number() && holds.number != 0) return;
  if (holds.is_known()) {
    emit(fmt::format("assert({});", known(holds, true)), at);
    return;
  }
  driver_.assertions = false;
  abstracted("assertions over data are not checked:", "", at);
}

Value DriverUnit::call(const clang::CallExpr& of) {
  const SourceLocation at = of.getExprLoc();
  const FunctionDecl* callee = of.getDirectCallee();
  std::vector<const Expr*> arguments(of.arg_begin(), of.arg_end());
  const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(callee);
  const bool on_object = method != nullptr && method->isImplicitObjectMemberFunction();
  const Expr* object = nullptr;
  if (const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(&of)) {
    object = member->getImplicitObjectArgument();
  } else if (on_object && llvm::isa<clang::CXXOperatorCallExpr>(of)) {
    object = arguments.front();
    arguments.erase(arguments.begin());
  }
  if (callee == nullptr) {
    const Value callable = value(of.getCallee());
    std::vector<Value> values;
    values.reserve(arguments.size());
    for (const Expr* one : arguments) values.push_back(argument(one, {}));
    return invoke(callable, values, at);
  }
  const bool is_called_object =
      object != nullptr && callee->getOverloadedOperator() == clang::OO_Call;
  if (is_called_object && is_function_object(object->getType().getNonReferenceType())) {
    const Value callable = load(place(object), at);
    std::vector<Value> values;
    values.reserve(arguments.size());
    for (unsigned i = 0; i < arguments.size(); ++i) {
      const FunctionDecl* target = callable.function == nullptr ? callee : callable.function;
      values.push_back(argument(arguments[i], i < target->getNumParams()
                                                  ? target->getParamDecl(i)->getType()
                                                  : QualType()));
    }
    return invoke(callable, values, at);
  }
  if (is_foreign(*callee)) {
    return object != nullptr ? foreign_method(*method, of, object, arguments)
                             : foreign_function(*callee, of);
  }
  std::optional<Spot> self;
  if (object != nullptr) {
    const bool arrow = object->getType()->isPointerType();
    const Value leads = arrow ? value(object) : Value::leading_to(spot(object));
    if (leads.kind != Value::Kind::kPointer) {
      refuse(at, "which object this is called for is not known",
             "Use objects that the driver makes itself, and pointers that do not change.");
    }
    self = leads.spot;
    const auto* exact = self->type->getAsCXXRecordDecl();
    if (method->isVirtual() && exact != nullptr && exact->hasDefinition()) {
      const clang::CXXMethodDecl* final_one =
          method->getCorrespondingMethodInClass(exact->getDefinition());
      if (final_one != nullptr) callee = final_one;
    }
    const bool trivial = !method->isUserProvided() && arguments.size() == 1 &&
                         (method->isCopyAssignmentOperator() || method->isMoveAssignmentOperator());
    if (trivial) {
      copy(spot(arguments[0]), *self, at);
      return Value::leading_to(*self);
    }
  }
  std::vector<Value> values;
  values.reserve(arguments.size());
  for (unsigned i = 0; i < arguments.size(); ++i) {
    values.push_back(argument(arguments[i], i < callee->getNumParams()
                                                ? callee->getParamDecl(i)->getType()
                                                : QualType()));
  }
  return invoke(*callee, self, values, nullptr, at);
}

}  // namespace tomos::cpp
