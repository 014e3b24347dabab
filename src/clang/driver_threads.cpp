// Threads of a driver, and what they do to each other: start and join, waits, pthreads.
#include <fmt/format.h>

#include "clang/driver_types.h"
#include "clang/drivers.h"
#include "clang/unit.h"

namespace tomos::cpp {

using clang::Expr;
using clang::SourceLocation;

namespace {

constexpr std::size_t kMostDriverThreads = 15;  // and main

}  // namespace

Value DriverUnit::start(const Value& callable, std::vector<Value> arguments, SourceLocation at) {
  if (loops_ > 0) {
    refuse(at, "threads are started in a loop, nobody knows how many",
           "Give the loop a constant bound.");
  }
  if (started_.size() == kMostDriverThreads) {
    refuse(at, "there are too many threads", "At most 15 beside main can be followed.");
  }
  const std::string name = fmt::format("T{}", started_.size() + 1);
  // What is known only here is put where the new thread finds it.
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].kind != Value::Kind::kFormula) continue;
    const Spot own{.path = unique(fmt::format("{} argument {}", name, i + 1)),
                   .type = context_.BoolTy};
    write(own, arguments[i], at);
    arguments[i] = Value::leading_to(own);
  }
  started_.push_back(
      {.name = name, .callable = callable, .arguments = std::move(arguments), .at = at});
  emit(fmt::format("start {};", name), at);
  return {.kind = Value::Kind::kThread, .number = static_cast<std::int64_t>(started_.size() - 1)};
}

Value DriverUnit::start(llvm::ArrayRef<const Expr*> arguments, SourceLocation at) {
  const Expr* callee = arguments.front();
  const Value callable = callee->isGLValue() && !callee->getType()->isFunctionType()
                             ? load(place(callee), at)
                             : value(callee);
  const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(callable.function);
  const bool is_method =
      method != nullptr && !callable.closure && method->isImplicitObjectMemberFunction();
  std::vector<Value> values;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const Expr* one = arguments[i]->IgnoreImplicit();
    if (keeps_lock(one->getType().getNonReferenceType())) {
      refuse(at, "a guard is given to a thread", "Let the thread take the lock itself.");
    }
    const bool is_object =
        is_method && i == 1 && one->isGLValue() && !one->getType()->isPointerType();
    if (is_object) {
      values.push_back(Value::leading_to(spot(one)));
    } else {
      values.push_back(one->isGLValue() ? load(place(one), at) : value(one));
    }
  }
  return start(callable, std::move(values), at);
}

// std::async: its future is known as the thread, to get what it returns is to join it.
Value DriverUnit::start_async(llvm::ArrayRef<const Expr*> arguments, SourceLocation at) {
  const Value policy = arguments.empty() ? Value{} : value(arguments[0]);
  if (!policy.is_number() || policy.number != 1) {
    refuse(at, "whether this starts a thread is not said",
           "Call std::async with std::launch::async.");
  }
  return start(arguments.drop_front(), at);
}

void DriverUnit::join(const Spot& thread, SourceLocation at) {
  const auto known_one = threads_.find(thread.path);
  if (known_one == threads_.end()) {
    refuse(at, fmt::format("which thread {} is is not known here", thread.path),
           "Join it where it was started, in the same order every time.");
  }
  emit(fmt::format("join {};", started_[known_one->second].name), at);
  threads_.erase(known_one);
}

void DriverUnit::wait(const Spot& condition, const Spot& lock, bool timed, SourceLocation at) {
  if (meeting_of(lock.type) != Meeting::kNone) {
    refuse(at, "a thread waits with a reader-writer lock", "Let it wait with a std::mutex.");
  }
  const std::string name = declare(lock, at);
  if (timed) {
    abstracted("waits with a time-out may end at any time:", "", at);
    open("if (*)", at);
    emit(fmt::format("release {};", name), at);
    emit(fmt::format("acquire {};", name), at);
    close();
    open("else", at);
  }
  emit(fmt::format("wait({}, {});", declare(condition, at), name), at);
  if (timed) close();
}

std::optional<Value> DriverUnit::pthread_function(llvm::StringRef name, const clang::CallExpr& of) {
  const SourceLocation at = of.getExprLoc();
  if (!name.starts_with("pthread_")) return std::nullopt;
  const llvm::StringRef what = name.drop_front(8);
  const auto leads = [&](unsigned i) {
    const Value found = value(of.getArg(i));
    if (found.kind != Value::Kind::kPointer) {
      refuse(at, "where this pointer leads is not known", "Use the object itself.");
    }
    return found.spot;
  };
  if (what == "create") {
    const Spot thread = leads(0);
    const Value callable = value(of.getArg(2));
    const Value given = value(of.getArg(3));
    write(thread, start(callable, {given}, at), at);
    return Value::of(0);
  }
  if (what == "join") {
    join(spot(of.getArg(0)->IgnoreParenImpCasts()), at);
    return Value::of(0);
  }
  if (what == "mutex_lock" || what == "spin_lock") {
    acquire(leads(0), at);
    return Value::of(0);
  }
  if (what == "mutex_unlock" || what == "spin_unlock" || what == "rwlock_unlock") {
    release(leads(0), at);
    return Value::of(0);
  }
  if (what == "rwlock_rdlock" || what == "rwlock_wrlock") {
    acquire(leads(0), at, what == "rwlock_rdlock");
    return Value::of(0);
  }
  if (what.ends_with("trylock") || what == "rwlock_tryrdlock" || what == "rwlock_trywrlock" ||
      what.ends_with("timedlock") || what.ends_with("timedrdlock") ||
      what.ends_with("timedwrlock")) {
    const bool reads = what.ends_with("rdlock");
    const Value done = try_lock(leads(0), reads, what.contains("timed"), at);
    if (done.is_number()) return Value::of(done.number != 0 ? 0 : 1);
    return Value::of(fmt::format("({} ? 0 : 1)", done.formula));
  }
  if (what == "barrier_init") {
    make_meeting(leads(0), value(of.getArg(2)), at);
    return Value::of(0);
  }
  if (what == "once") {
    call_once(leads(0), of.getArg(1), {}, at);
    return Value::of(0);
  }
  if (what == "barrier_wait") {
    meet(leads(0), "wait", {}, at);
    return Value{};
  }
  if (what == "cond_wait" || what == "cond_timedwait") {
    const Spot condition = leads(0);
    wait(condition, leads(1), what == "cond_timedwait", at);
    return what == "cond_wait" ? Value::of(0) : Value{};
  }
  if (what == "cond_signal" || what == "cond_broadcast") {
    emit(fmt::format("{}({});", what == "cond_signal" ? "notify" : "notify_all",
                     declare(leads(0), at)),
         at);
    return Value::of(0);
  }
  if (what == "self" || what == "detach" || what == "yield" || what.starts_with("mutex_") ||
      what.starts_with("spin_") || what.starts_with("cond_") || what.starts_with("rwlock") ||
      what.starts_with("barrier") || what.starts_with("attr_") || what.starts_with("setname")) {
    return Value::of(0);
  }
  if (what == "exit") return std::nullopt;
  refuse(at, fmt::format("what {} does is not known here", name.str()),
         "Mutexes, conditions, creation and join are known.");
}

}  // namespace tomos::cpp
