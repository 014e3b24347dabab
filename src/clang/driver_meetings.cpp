// What threads of a driver meet at: who locks what, several locks at once, and what is neither a
// mutex nor a condition. Each of these is a number that no event tells of, changed in the step that
// waits for it:
//
//   reader-writer lock   how many read; kWriting: one writes
//   semaphore            its count; if it does not stay small, kMany stands for that or more, and
//                        may stay when one is taken
//   latch                how many are still to come
//   barrier              the same, and a phase that changes when the last one comes
//   once_flag            0, while somebody is at it 1, when it is done 2
//   promise              1 when it is kept
#include <fmt/format.h>

#include <algorithm>

#include "clang/driver_types.h"
#include "clang/drivers.h"
#include "clang/unit.h"

namespace tomos::cpp {

using clang::Expr;
using clang::SourceLocation;

namespace {

constexpr int kWriting = 17;     // there are at most 16 threads
constexpr int kMany = 16;        // what counts up to there is exact
constexpr int kMostFirst = 255;  // a first count

}  // namespace

// The name of its number, which is declared if it is new.
std::string DriverUnit::meeting(const Spot& spot, SourceLocation at, const std::string& part) {
  if (spot.blurred) {
    refuse(at, fmt::format("which element of {} this is is not known", spot.path),
           "Use one that has a name.");
  }
  const std::string path = part.empty() ? spot.path : spot.path + " " + part;
  if (const auto known_one = shared_.find(path); known_one != shared_.end()) {
    return known_one->second.name;
  }
  return declare_as(path,
                    part.empty() ? fmt::format("state int[0..{}]", most_in(spot)) : "state bool");
}

int DriverUnit::most_in(const Spot& meeting) const {
  switch (meeting_of(meeting.type)) {
    case Meeting::kSharedLock:
      return kWriting;
    case Meeting::kOnce:
      return 2;
    case Meeting::kPromise:
      return 1;
    case Meeting::kSemaphore:
    case Meeting::kLatch:
    case Meeting::kBarrier:
    case Meeting::kNone:
      break;
  }
  const auto first = sizes_.find(meeting.path);
  return first == sizes_.end() ? kMany : std::max(kMany, first->second);
}

void DriverUnit::make_meeting(const Spot& spot, const Value& count, SourceLocation at) {
  const Meeting kind = meeting_of(spot.type);
  if (kind == Meeting::kSharedLock || kind == Meeting::kOnce || kind == Meeting::kPromise) return;
  if (!count.is_number() || count.number < 0 || count.number > kMostFirst) {
    refuse(at, fmt::format("the count of {} is not known, or above {}", spot.path, kMostFirst),
           "Make it of a small constant.");
  }
  sizes_[spot.path] = static_cast<int>(count.number);
  const std::string name = meeting(spot, at);
  if (prologue_) {
    shared_.at(spot.path).initial = std::to_string(count.number);
  } else {
    emit(fmt::format("{} = {};", name, count.number), at);
  }
}

// ---- who locks what ----

// The objects of m.lock() and of std::lock(m, n).
std::vector<const Expr*> DriverUnit::locked_by(const clang::Stmt* of) {
  if (const Expr* lock = lock_call(of, true)) return {lock};
  const auto* expr = llvm::dyn_cast_or_null<Expr>(of);
  const auto* call =
      expr == nullptr ? nullptr : llvm::dyn_cast<clang::CallExpr>(expr->IgnoreImplicit());
  const clang::FunctionDecl* callee = call == nullptr ? nullptr : call->getDirectCallee();
  const bool fits = callee != nullptr && is_of_std(*callee) && plain_name(*callee) == "lock" &&
                    std::ranges::all_of(call->arguments(), [](const Expr* one) {
                      return is_any_lock_type(one->getType());
                    });
  if (!fits || llvm::isa<clang::CXXMemberCallExpr>(call)) return {};
  return {call->arg_begin(), call->arg_end()};
}

bool DriverUnit::is_given_back(const std::string& lock, llvm::ArrayRef<const clang::Stmt*> in) {
  return std::ranges::any_of(in, [&](const clang::Stmt* later) {
    const Expr* unlocked = lock_call(later, false);
    return unlocked != nullptr && spot(unlocked).path == lock;
  });
}

// The object of `if (m.try_lock())`, `if (pthread_mutex_trylock(&m) == 0)`.
const Expr* DriverUnit::tried_lock(const Expr* condition) {
  const Expr* of = condition->IgnoreParenImpCasts();
  if (const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(of)) {
    const Expr* object = member->getImplicitObjectArgument();
    const bool tries = plain_name(*member->getMethodDecl()).starts_with("try_lock");
    return tries && is_any_lock_type(object->getType()) ? object : nullptr;
  }
  const auto* test = llvm::dyn_cast<clang::BinaryOperator>(of);
  const auto* inverted = llvm::dyn_cast<clang::UnaryOperator>(of);
  const Expr* asked = nullptr;
  if (test != nullptr && test->getOpcode() == clang::BO_EQ &&
      test->getRHS()->isNullPointerConstant(context_, Expr::NPC_ValueDependentIsNotNull) !=
          Expr::NPCK_NotNull) {
    asked = test->getLHS();
  } else if (inverted != nullptr && inverted->getOpcode() == clang::UO_LNot) {
    asked = inverted->getSubExpr();
  }
  const auto* call =
      asked == nullptr ? nullptr : llvm::dyn_cast<clang::CallExpr>(asked->IgnoreParenImpCasts());
  const clang::FunctionDecl* callee = call == nullptr ? nullptr : call->getDirectCallee();
  if (callee == nullptr || call->getNumArgs() == 0) return nullptr;
  const llvm::StringRef name = plain_name(*callee);
  if (!name.starts_with("pthread_") || !name.contains("try")) return nullptr;
  const auto* address =
      llvm::dyn_cast<clang::UnaryOperator>(call->getArg(0)->IgnoreParenImpCasts());
  return address != nullptr && address->getOpcode() == clang::UO_AddrOf ? address->getSubExpr()
                                                                        : nullptr;
}

// The path of the lock in `if (std::unique_lock lock(m, std::try_to_lock); lock)`, where the guard
// gives it back; empty: this is something else.
std::string DriverUnit::lock_tried_by_guard(const clang::IfStmt& of) {
  const auto* declared = llvm::dyn_cast_or_null<clang::DeclStmt>(of.getInit());
  const clang::VarDecl* variable = of.getConditionVariable();
  if (declared != nullptr && declared->isSingleDecl()) {
    variable = llvm::dyn_cast<clang::VarDecl>(declared->getSingleDecl());
  }
  if (variable == nullptr || guard_type(variable->getType()).empty()) return "";
  const auto* asked = llvm::dyn_cast<clang::CXXMemberCallExpr>(of.getCond()->IgnoreParenImpCasts());
  const auto* object = asked == nullptr ? nullptr
                                        : llvm::dyn_cast<clang::DeclRefExpr>(
                                              asked->getImplicitObjectArgument()->IgnoreImplicit());
  if (object == nullptr || object->getDecl() != variable) return "";
  const Expr* init = variable->getInit();
  const auto* made =
      init == nullptr ? nullptr : llvm::dyn_cast<clang::CXXConstructExpr>(init->IgnoreImplicit());
  if (made == nullptr || made->getNumArgs() < 2 || !is_any_lock_type(made->getArg(0)->getType())) {
    return "";
  }
  const auto* tag = made->getArg(1)->getType().getNonReferenceType()->getAsRecordDecl();
  return tag != nullptr && tag->getName() == "try_to_lock_t" ? spot(made->getArg(0)).path : "";
}

// The object of m.lock(), pthread_mutex_lock(&m), or of their counterparts.
const Expr* DriverUnit::lock_call(const clang::Stmt* of, bool locks) {
  const auto* expr = llvm::dyn_cast_or_null<Expr>(of);
  const auto* call =
      expr == nullptr ? nullptr : llvm::dyn_cast<clang::CallExpr>(expr->IgnoreImplicit());
  const clang::FunctionDecl* callee = call == nullptr ? nullptr : call->getDirectCallee();
  if (callee == nullptr) return nullptr;
  const llvm::StringRef name = plain_name(*callee);
  if (const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(call)) {
    const Expr* object = member->getImplicitObjectArgument();
    const bool is_lock = is_any_lock_type(object->getType());
    return is_lock && (name == (locks ? "lock" : "unlock") ||
                       name == (locks ? "lock_shared" : "unlock_shared"))
               ? object
               : nullptr;
  }
  const bool fits = locks ? name == "pthread_mutex_lock" || name == "pthread_rwlock_rdlock" ||
                                name == "pthread_rwlock_wrlock"
                          : name == "pthread_mutex_unlock" || name == "pthread_rwlock_unlock";
  if (!fits || call->getNumArgs() != 1) return nullptr;
  const auto* address =
      llvm::dyn_cast<clang::UnaryOperator>(call->getArg(0)->IgnoreParenImpCasts());
  return address != nullptr && address->getOpcode() == clang::UO_AddrOf ? address->getSubExpr()
                                                                        : nullptr;
}

// ---- reader-writer locks ----

void DriverUnit::acquire_shared_lock(const Spot& lock, bool shared, SourceLocation at) {
  const std::string name = meeting(lock, at);
  emit(shared ? fmt::format("when ({0} != {1}) {0} = {0} + 1;", name, kWriting)
              : fmt::format("when ({0} == 0) {0} = {1};", name, kWriting),
       at, DriverStep::kLock);
}

void DriverUnit::release_shared_lock(const Spot& lock, SourceLocation at) {
  emit(fmt::format("{0} = {0} == {1} ? 0 : {0} - 1;", meeting(lock, at), kWriting), at,
       DriverStep::kUnlock);
}

// Gets it if it is free, and says so. With a time limit it may also give up, or wait for it.
Value DriverUnit::try_lock(const Spot& lock, bool shared, bool timed, SourceLocation at) {
  const std::string done = temporary("bool");
  if (lock.blurred) refuse(at, "which lock this is is not known", "Use a lock that has a name.");
  const bool is_plain = meeting_of(lock.type) == Meeting::kNone;
  const std::string name = is_plain ? declare(lock, at) : meeting(lock, at);
  if (tried_.empty()) note_open_section(at);
  if (timed) {
    abstracted("both outcomes are possible of", "waiting for a lock with a time limit", at);
    open("if (*)", at);
    if (is_plain) {
      emit(fmt::format("acquire {};", name), at);
    } else {
      acquire_shared_lock(lock, shared, at);
    }
    emit(done + " = true;", at);
    close();
    open("else", at);
    emit(done + " = false;", at);
    close();
  } else if (is_plain && is_recursive_lock(lock.type) && holding_.held.contains(name)) {
    holding_.held.insert(name);
    return Value::of(1);
  } else if (is_plain) {
    emit(done + " = true;", at);
    open(fmt::format("acquire {} else", name), at);
    emit(done + " = false;", at);
    close();
  } else {
    const std::string free =
        fmt::format("{} {} {}", name, shared ? "!=" : "==", shared ? kWriting : 0);
    const std::string taken = shared ? name + " + 1" : std::to_string(kWriting);
    emit(fmt::format("{}, {} = {}, {} ? {} : {};", done, name, free, free, taken, name), at,
         DriverStep::kLock);
  }
  return Value::of(done);
}

// std::lock and std::scoped_lock, as the libraries have it: wait for one, try the others in turn;
// if one of them is taken, give all back, and wait for that one first. So nobody waits who holds
// any.
void DriverUnit::lock_all(const std::vector<Spot>& locks, SourceLocation at) {
  if (locks.size() == 1) return acquire(locks[0], at);
  note_open_section(at);
  std::vector<std::string> names;
  for (const Spot& lock : locks) {
    if (lock.blurred) refuse(at, "which lock this is is not known", "Use a lock that has a name.");
    const bool is_plain = meeting_of(lock.type) == Meeting::kNone;
    names.push_back(is_plain ? declare(lock, at) : meeting(lock, at));
    if (holding_.held.contains(names.back())) {
      refuse(at, fmt::format("{} is locked with others while it is held", lock.path),
             "Lock it before, or with them.");
    }
  }
  const auto give_back = [&](std::size_t one) {
    if (meeting_of(locks[one].type) == Meeting::kNone) {
      emit(fmt::format("release {};", names[one]), at);
    } else {
      release_shared_lock(locks[one], at);
    }
  };
  const std::size_t count = locks.size();
  const std::size_t number = ++labels_;
  const std::string tried = temporary("bool");
  for (std::size_t first = 0; first < count; ++first) {
    label(fmt::format("all_{}_{}", number, first), at);
    if (meeting_of(locks[first].type) == Meeting::kNone) {
      emit(fmt::format("acquire {};", names[first]), at);
    } else {
      acquire_shared_lock(locks[first], false, at);
    }
    for (std::size_t i = 1; i < count; ++i) {
      const std::size_t next = (first + i) % count;
      if (meeting_of(locks[next].type) == Meeting::kNone) {
        open(fmt::format("acquire {} else", names[next]), at);
      } else {
        emit(
            fmt::format("{0}, {1} = {1} == 0, {1} == 0 ? {2} : {1};", tried, names[next], kWriting),
            at, DriverStep::kLock);
        open(fmt::format("if (!{})", tried), at);
      }
      for (std::size_t held = i; held-- > 0;) give_back((first + held) % count);
      emit(fmt::format("goto all_{}_{};", number, next), at);
      close();
    }
    if (first + 1 < count) emit(fmt::format("goto all_{};", number), at);
  }
  label(fmt::format("all_{}", number), at);
  for (const std::string& name : names) holding_.held.insert(name);
}

// Of mutexes, or of guards that have put it off.
void DriverUnit::std_lock(llvm::ArrayRef<const Expr*> arguments, SourceLocation at) {
  std::vector<Spot> locks;
  std::vector<Spot> guards;
  for (const Expr* one : arguments) {
    if (is_any_lock_type(one->getType())) {
      locks.push_back(lock_of(one));
      continue;
    }
    const Spot guard = spot(one);
    const bool is_guard = !guard_type(guard.type).empty();
    if (!is_guard || guard_at(guard, at).locks.size() != 1 || guard_at(guard, at).shared) {
      refuse(at, "which locks these are is not known",
             "Give std::lock mutexes, or a std::unique_lock of each.");
    }
    locks.push_back(guard_at(guard, at).locks[0]);
    guards.push_back(guard);
    if (holding_.held.empty() && is_of_scope(guard)) begin_section(at);
  }
  lock_all(locks, at);
  for (const Spot& guard : guards) set_owns(guard, true, at);
}

// ---- the others ----

Value DriverUnit::meet(const Spot& spot, llvm::StringRef what, const std::vector<Value>& given,
                       SourceLocation at) {
  const auto unknown = [&] {
    refuse(at, fmt::format("what {} does with {} is not known here", what.str(), spot.path),
           "Of semaphores, latches and barriers the waiting and the arriving are known.");
  };
  const auto number = [&](std::int64_t without) -> std::int64_t {
    if (given.empty()) return without;
    if (!given[0].is_number() || given[0].number < 0 || given[0].number > kMostFirst) {
      refuse(at, "by how many this changes the count is not known", "Write a small constant.");
    }
    return given[0].number;
  };
  const std::string name = meeting(spot, at);
  const std::string one_less =
      keeps_counts_ ? name + " - 1"
                    : fmt::format("{0} == {1} && * ? {1} : {0} - 1", name, most_in(spot));
  // Those of C++ are made of atomics, in headers.
  const bool in_library = !is_of_cpp(spot.type);
  switch (meeting_of(spot.type)) {
    case Meeting::kSemaphore: {
      const DriverStep waiting = in_library ? DriverStep::kSemaphoreWait : DriverStep::kCall;
      if (what == "acquire" || what == "wait") {
        emit(fmt::format("when ({0} > 0) {0} = {1};", name, one_less), at, waiting);
        return Value::of(0);
      }
      if (what == "release" || what == "post") {
        driver_.counts = keeps_counts_;
        const std::string sum = fmt::format("{} + {}", name, number(1));
        emit(keeps_counts_ ? fmt::format("{} = {};", name, sum)
                           : fmt::format("{0} = {1} > {2} ? {2} : {1};", name, sum, most_in(spot)),
             at, in_library ? DriverStep::kSemaphorePost : DriverStep::kCall);
        return Value::of(0);
      }
      if (!what.starts_with("try")) unknown();
      const std::string done = temporary("bool");
      if (what == "try_acquire" || what == "trywait") {
        emit(fmt::format("{0}, {1} = {1} > 0, {1} == 0 ? 0 : {2};", done, name, one_less), at,
             in_library ? DriverStep::kLock : DriverStep::kCall);
        return Value::of(done);
      }
      abstracted("both outcomes are possible of", "waiting for a semaphore with a time limit", at);
      open("if (*)", at);
      emit(fmt::format("when ({0} > 0) {0} = {1};", name, one_less), at, waiting);
      emit(done + " = true;", at);
      close();
      open("else", at);
      emit(done + " = false;", at);
      close();
      return Value::of(done);
    }
    case Meeting::kLatch:
      if (what == "count_down" || what == "arrive_and_wait") {
        emit(fmt::format("{0} = {0} - {1};", name, number(1)), at, DriverStep::kCall);
      }
      if (what == "wait" || what == "arrive_and_wait") {
        emit(fmt::format("assume({} == 0);", name), at);
      } else if (what == "try_wait") {
        const std::string done = temporary("bool");
        emit(fmt::format("{} = {} == 0;", done, name), at);
        return Value::of(done);
      } else if (what != "count_down") {
        unknown();
      }
      return {};
    case Meeting::kBarrier: {
      if ((what != "arrive_and_wait" && what != "wait") || !sizes_.contains(spot.path)) unknown();
      const std::string phase = meeting(spot, at, "phase");
      const std::string mine = temporary("bool");
      const DriverStep step = in_library ? DriverStep::kBarrier : DriverStep::kCall;
      const auto completion = completions_.find(spot.path);
      if (completion == completions_.end()) {
        emit(fmt::format("{0}, {1}, {2} = {2}, {1} == 1 ? {3} : {1} - 1, {1} == 1 ? !{2} : {2};",
                         mine, name, phase, sizes_[spot.path]),
             at, step);
        emit(fmt::format("assume({} != {});", phase, mine), at);
        return {};
      }
      // The last to come calls it; the others wait until that is done.
      const std::string last = temporary("bool");
      emit(fmt::format("{0}, {1}, {2} = {3}, {2} == 1, {2} == 1 ? {4} : {2} - 1;", mine, last, name,
                       phase, sizes_[spot.path]),
           at, step);
      open(fmt::format("if ({})", last), at);
      invoke(Value(completion->second), {}, at);
      emit(fmt::format("{0} = !{0};", phase), at);
      close();
      emit(fmt::format("assume({} != {});", phase, mine), at);
      return {};
    }
    case Meeting::kPromise:
      if (what == "get_future") {
        return {.kind = Value::Kind::kThread, .number = -1, .spot = spot};
      }
      if (what != "set_value") unknown();
      emit(fmt::format("{} = 1;", name), at, DriverStep::kCall);
      return {};
    case Meeting::kSharedLock:
    case Meeting::kOnce:
    case Meeting::kNone:
      break;
  }
  unknown();
  return {};
}

void DriverUnit::call_once(const Spot& flag, const Expr* callee,
                           llvm::ArrayRef<const Expr*> arguments, SourceLocation at) {
  const std::string name = meeting(flag, at);
  const Value callable = callee->isGLValue() && !callee->getType()->isFunctionType()
                             ? load(place(callee), at)
                             : value(callee);
  std::vector<Value> values;
  for (const Expr* one : arguments) values.push_back(argument(one, {}));
  const std::string first = temporary("bool");
  emit(fmt::format("{0}, {1} = {1} == 0, {1} == 0 ? 1 : {1};", first, name), at, DriverStep::kOnce);
  open(fmt::format("if ({})", first), at);
  invoke(callable, values, at);
  emit(fmt::format("{} = 2;", name), at);
  close();
  emit(fmt::format("assume({} == 2);", name), at);
}

// sem_wait(&s) and such.
std::optional<Value> DriverUnit::semaphore_function(llvm::StringRef name,
                                                    const clang::CallExpr& of) {
  if (!name.starts_with("sem_") || of.getNumArgs() == 0) return std::nullopt;
  const SourceLocation at = of.getExprLoc();
  const Value leads = value(of.getArg(0));
  if (leads.kind != Value::Kind::kPointer || meeting_of(leads.spot.type) != Meeting::kSemaphore) {
    refuse(at, "which semaphore this is is not known", "Use one that has a name.");
  }
  const llvm::StringRef what = name.drop_front(4);
  if (what == "init") {
    make_meeting(leads.spot, value(of.getArg(2)), at);
    return Value::of(0);
  }
  if (what == "destroy") return Value::of(0);
  Value result = meet(leads.spot, what == "timedwait" ? "try_timed" : what, {}, at);
  if (result.is_number()) return result;
  return Value::of(fmt::format("({} ? 0 : 1)", result.formula));
}

}  // namespace tomos::cpp
