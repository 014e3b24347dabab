// What the system's functions do in a driver: they are known, or touch only what they are given.
#include <fmt/format.h>

#include <algorithm>

#include "clang/driver_types.h"
#include "clang/drivers.h"
#include "clang/known_calls.h"
#include "clang/unit.h"

namespace tomos::cpp {

using clang::Expr;
using clang::FunctionDecl;
using clang::QualType;
using clang::SourceLocation;

Value DriverUnit::foreign_function(const FunctionDecl& function, const clang::CallExpr& of) {
  const SourceLocation at = of.getExprLoc();
  const llvm::StringRef name = plain_name(function);
  const bool in_std = is_of_std(function);
  const std::vector<const Expr*> arguments(of.arg_begin(), of.arg_end());
  if (auto done = pthread_function(name, of)) return *done;
  if (auto done = semaphore_function(name, of)) return *done;
  if (in_std && name == "move" && arguments.size() == 1 &&
      is_smart_pointer(arguments[0]->getType())) {
    refuse(at, "a pointer is moved away, which leaves null behind",
           "Hand on a reference to what it leads to.");
  }
  if (in_std && arguments.size() == 1 &&
      is_one_of(name, {"move", "forward", "ref", "cref", "addressof", "as_const"})) {
    const Meaning where = place(arguments[0]);
    return where.kind == Meaning::Kind::kSpot ? Value::leading_to(where.spot) : load(where, at);
  }
  if (in_std && name == "swap" && arguments.size() == 2 &&
      !guard_type(arguments[0]->getType()).empty()) {
    swap_guards(spot(arguments[0]), spot(arguments[1]), at);
    return {};
  }
  if (in_std && is_one_of(name, {"make_unique", "make_shared"})) {
    if (loops_ > 0)
      refuse(at, "an object is made in a loop, nobody knows how often", "Make it before.");
    const auto* smart = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(
        of.getType()->getAsCXXRecordDecl());
    const QualType inner = smart == nullptr || smart->getTemplateArgs().size() == 0
                               ? QualType()
                               : smart->getTemplateArgs()[0].getAsType();
    if (inner.isNull()) return {};
    const Spot own{.path = unique("new " + inner.getUnqualifiedType().getAsString()),
                   .type = inner};
    initialize_all(own, at);
    const auto* record = inner->getAsCXXRecordDecl();
    std::vector<Value> values;
    values.reserve(arguments.size());
    for (const Expr* one : arguments) values.push_back(argument(one, {}));
    if (leaf_of(own) != Leaf::kRecord) {
      if (values.size() == 1) write(own, values[0], at);
      return Value::leading_to(own);
    }
    for (const clang::CXXConstructorDecl* one : record->ctors()) {
      if (one->getNumParams() == values.size() && !one->isCopyOrMoveConstructor() &&
          one->getDefinition() != nullptr) {
        invoke(*one, own, values, nullptr, at);
        return Value::leading_to(own);
      }
    }
    for (const clang::FieldDecl* one : record->fields()) {
      if (one->getInClassInitializer() != nullptr) {
        initialize(field(own, *one), one->getInClassInitializer(), at);
      }
    }
    return Value::leading_to(own);
  }
  if (function.isNoReturn()) {
    if (!is_one_of(name, {"exit", "_exit", "quick_exit", "pthread_exit"})) {
      emit("assert(false);", at);
    }
    leave(0, at);
    emit(fmt::format("goto {};", frames_.back().label), at);
    frames_.back().jumps = true;
    return {};
  }
  if (in_std && name == "call_once") {
    call_once(spot(of.getArg(0)), of.getArg(1), llvm::ArrayRef(arguments).drop_front(2), at);
    return {};
  }
  if (in_std && name == "async") return start_async(arguments, at);
  if (in_std && name == "lock") {
    std_lock(arguments, at);
    return {};
  }
  if (in_std && name == "try_lock") {
    refuse(at, "std::try_lock is not known here",
           "std::lock and std::scoped_lock are, and try_lock() of one mutex.");
  }
  const bool calls_back = std::ranges::any_of(arguments, [](const Expr* one) {
    return is_function_object(one->getType().getNonReferenceType()) ||
           one->getType()->isFunctionPointerType();
  });
  if (calls_back) {
    refuse(at, fmt::format("{} is given a function to call", function.getQualifiedNameAsString()),
           "Write a loop that calls it.");
  }
  for (const Expr* one : arguments) {
    const bool by_reference = one->isGLValue();
    const Value given = by_reference ? Value{} : value(one);
    const Meaning where = by_reference ? place(one) : Meaning{};
    if (where.kind == Meaning::Kind::kSpot) {
      if (one->getType().isConstQualified()) {
        (void)read(where.spot, at);
      } else {
        touch(where.spot, at);
      }
    } else if (where.kind == Meaning::Kind::kLocal && !one->getType().isConstQualified()) {
      store(where, {}, at);
    } else if (where.value.kind == Value::Kind::kPointer && !one->getType().isConstQualified()) {
      refuse(at, "this pointer may change", "Let it lead to one object.");
    }
    if (given.kind == Value::Kind::kPointer) touch(given.spot, at);
  }
  return {};
}

Value DriverUnit::foreign_method(const clang::CXXMethodDecl& method, const clang::CallExpr& of,
                                 const Expr* object, llvm::ArrayRef<const Expr*> arguments) {
  const SourceLocation at = of.getExprLoc();
  const QualType type = object->getType()->isPointerType()
                            ? object->getType()->getPointeeType()
                            : object->getType().getNonReferenceType();
  const std::string name = method.getNameAsString();
  const auto where = [&]() -> Spot {
    if (!object->getType()->isPointerType()) {
      return is_any_lock_type(type) ? lock_of(object) : spot(object);
    }
    const Value leads = value(object);
    if (leads.kind != Value::Kind::kPointer) {
      refuse(at, "where this pointer leads is not known", "Use the object itself.");
    }
    return leads.spot;
  };
  if (is_any_lock_type(type)) {
    const bool shared = llvm::StringRef(name).contains("_shared");
    const bool timed =
        llvm::StringRef(name).ends_with("_for") || llvm::StringRef(name).ends_with("_until");
    if (name == "lock" || name == "lock_shared") acquire(where(), at, shared);
    if (name.starts_with("unlock")) release(where(), at);
    return name.starts_with("try_lock") ? try_lock(where(), shared, timed, at) : Value{};
  }
  if (meeting_of(type) != Meeting::kNone) {
    std::vector<Value> given;
    for (const Expr* one : arguments) {
      given.push_back(one->isGLValue() ? load(place(one), at) : value(one));
    }
    return meet(where(), name, given, at);
  }
  if (!guard_type(type).empty()) {
    return guard_method(method, where(), arguments, at);
  }
  if (is_condition_type(type)) {
    const Spot condition = where();
    if (name.starts_with("notify")) {
      emit(fmt::format("{}({});", name == "notify_one" ? "notify" : "notify_all",
                       declare(condition, at)),
           at);
      return {};
    }
    if (arguments.empty() || guard_type(arguments[0]->getType()).empty()) {
      refuse(at, "with which lock this waits is not known", "Wait with a std::unique_lock.");
    }
    const Guard with = guard_at(spot(arguments[0]), at);
    if (with.locks.size() != 1) {
      refuse(at, "with which lock this waits is not known", "Wait with a std::unique_lock.");
    }
    const Spot lock = with.locks[0];
    const bool timed = name != "wait";
    const unsigned predicate = timed ? 2 : 1;
    if (arguments.size() <= predicate) {
      wait(condition, lock, timed, at);
      return {};
    }
    const Value asked = value(arguments[predicate]);
    const Holding holding = holding_;
    const std::string after = fmt::format("after_{}", ++labels_);
    open("while (true)", at);
    const Value holds = invoke(asked, {}, at);
    join_ways(holding, at, true);
    if (!holds.is_known()) abstracted("conditions that depend on data go both ways:", "", at);
    open(fmt::format("if ({})", known(holds, true)), at);
    emit(fmt::format("goto {};", after), at);
    close();
    wait(condition, lock, timed, at);
    if (timed) {
      open("if (*)", at);
      emit(fmt::format("goto {};", after), at);
      close();
    }
    close();
    label(after, at);
    return timed ? Value{} : Value::of(1);
  }
  const Leaf leaf = leaf_of(type);
  if (leaf == Leaf::kThread) {
    if (name == "join" || name == "get" || name == "wait") {
      const Spot thread = where();
      if (const auto promise = promises_.find(thread.path); promise != promises_.end()) {
        emit(fmt::format("assume({} == 1);", meeting(promise->second, at)), at);
      } else if (name == "join" || threads_.contains(thread.path))
        join(thread, at);  // get() after wait()
    } else if (name == "operator=") {
      const Value from = value(arguments[0]);
      write(where(), from.kind == Value::Kind::kPointer ? read(from.spot, at) : from, at);
    } else if (name == "joinable") {
      return Value::of(threads_.contains(where().path) ? 1 : 0);
    }
    return {};
  }
  if (leaf == Leaf::kList) {
    const Spot list = where();
    const auto add = [&](const Value& thread) {
      const std::size_t place_in_list = counts_[list.path]++;
      write(element(list, Value::of(static_cast<std::int64_t>(place_in_list)), at), thread, at);
    };
    if (is_function_object(contained_type(type))) {
      if (name == "emplace_back" || name == "push_back") {
        const Expr* one = arguments[0];
        add(one->isGLValue() && !one->getType()->isFunctionType() ? load(place(one), at)
                                                                  : value(one));
        return {};
      }
    }
    if (name == "emplace_back") {
      const bool moved = arguments.size() == 1 && is_thread_type(arguments[0]->getType());
      add(moved ? value(arguments[0]) : start(arguments, at));
    } else if (name == "push_back") {
      const Value from = value(arguments[0]);
      add(from.kind == Value::Kind::kPointer ? read(from.spot, at) : from);
    } else if (name == "operator[]" || name == "at") {
      return Value::leading_to(element(list, value(arguments[0]), at));
    } else if (name == "size") {
      return Value::of(static_cast<std::int64_t>(counts_[list.path]));
    } else if (name == "back" && counts_[list.path] > 0) {
      return Value::leading_to(
          element(list, Value::of(static_cast<std::int64_t>(counts_[list.path] - 1)), at));
    } else if (name != "reserve" && name != "clear") {
      refuse(at, fmt::format("{} of a list of functions or threads is not known here", name), "");
    }
    return {};
  }
  if (leaf == Leaf::kArray) {
    if (name == "operator[]" || name == "at") {
      return Value::leading_to(element(where(), value(arguments[0]), at));
    }
    if (name == "size") return Value::of(static_cast<std::int64_t>(*array_size(type, context_)));
    touch(where(), at);
    return {};
  }
  if (is_atomic_type(type)) {
    const bool reads = llvm::isa<clang::CXXConversionDecl>(method);
    return atomic_operation(where(), reads ? "load" : name, of, arguments);
  }
  if (leaf == Leaf::kPointer) {
    const Meaning pointer = place(object);
    if (name == "operator=" || name == "reset") {
      if (pointer.kind == Meaning::Kind::kValue) {
        refuse(at, "this pointer changes", "Let it lead to one object.");
      }
      store(pointer, arguments.empty() ? Value::of(0) : value(arguments[0]), at);
      return {};
    }
    return load(pointer, at);
  }
  if (is_unknown_meeting(type)) {
    refuse(at, fmt::format("what {} does is not known here", method.getQualifiedNameAsString()),
           "Threads, mutexes, conditions, semaphores, latches, barriers and atomics are.");
  }
  for (const Expr* one : arguments) (void)(one->isGLValue() ? load(place(one), at) : value(one));
  const Meaning container = place(object);
  if (container.kind != Meaning::Kind::kSpot) return {};
  const bool reads = method.isConst() || only_reads(name);
  const std::size_t first = out_->size();
  // Its insides are the library's: of the source only the call is known. Some calls only say where
  // it is.
  const bool is_seen = !is_one_of(name, {"begin", "end", "cbegin", "cend", "rbegin", "rend"});
  const auto name_steps = [&] {
    for (std::size_t i = first; i < out_->size(); ++i) {
      const bool is_last = i + 1 == out_->size();
      (*out_)[i].step = is_last && is_seen ? DriverStep::kCall : DriverStep::kPart;
    }
  };
  (void)read(container.spot, at);
  const QualType result = method.getReturnType();
  const bool leads_in = result->isReferenceType() || result->isPointerType();
  if (leads_in) {
    name_steps();
    return Value::leading_to(
        {.path = container.spot.path,
         .type = result->isPointerType() ? result->getPointeeType() : result.getNonReferenceType(),
         .blurred = true});
  }
  if (!reads) write(container.spot, {}, at);
  name_steps();
  return {};
}

}  // namespace tomos::cpp
