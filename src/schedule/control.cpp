// Who runs: the turn, and what it takes to go on.
#include "schedule/control.h"

#include <errno.h>
#include <pthread.h>

#include "runtime/interpose.h"
#include "schedule/task.h"

TOMOS_REAL(void, pthread_testcancel);

namespace tomos::schedule {

thread_local constinit Task* self = nullptr;
thread_local constinit bool never_controlled = false;
bool accesses_wanted = false;
constinit World world;
constinit Objects objects;
constinit Task** enabled_tasks = nullptr;

namespace {

void give_turn(Task& task, bool is_asleep) {
  task.state = State::kRunning;
  world.running = &task;
  task.turn.store(1, std::memory_order_release);
  if (is_asleep) futex_wake(task.turn);
}

}  // namespace

void park(Task& task) {
  constexpr timespec kLong = {.tv_sec = 1'000'000, .tv_nsec = 0};
  while (task.turn.exchange(0, std::memory_order_acquire) == 0) {
    const bool any_signal = task.next.always_interruptible;
    if (futex_wait(task.turn, 0, any_signal ? &kLong : nullptr) != -EINTR) continue;
    if (!task.next.interruptible && !any_signal) continue;
    world.gate.lock();
    if (task.state == State::kReady) {
      task.interrupted = true;
      if (world.running == nullptr) {
        dispatch(nullptr);
      }
    }
    world.gate.unlock();
  }
  if (world.leaving.load(std::memory_order_relaxed) != 0) see_off();
}

void count_step(Task& task) {
  Trial& trial = world.area->trial;
  ++trial.steps;
  ++task.steps;
  world.time += world.step_time;
  const Turn& next = task.next;
  const bool is_access = next.kind >= Kind::kAtomicRead && next.kind <= Kind::kWrite;
  const std::uint64_t object = next.object == nullptr ? 0
                               : is_access            ? next.pc
                                                      : object_at(next.object).ordinal;
  trial.hash = mixed(trial.hash ^ (object << 24 | std::uint64_t{task.number} << 8 |
                                   static_cast<std::uint64_t>(next.kind)));
  step_done(task);
}

Object& object_at(const volatile void* address) {
  static constinit Object none = {};
  auto* record = objects.find(id(address));
  if (record == nullptr) {
    record = objects.make();
    if (record == nullptr) return none;
    record->value.ordinal = ++world.objects_made;
    objects.insert(record, id(address));
  }
  return record->value;
}

bool is_made_thread() { return self != nullptr && self->number != 0; }

bool controlled() {
  if (self == nullptr && world.area != nullptr && !never_controlled) adopt_thread();
  return self != nullptr && self->at_work == 0;
}

namespace {

// A sleep of less than this is often there to let others go first, not to let time pass.
constexpr std::uint64_t kShortSleep = 5'000'000'000;

bool is_free(const volatile void* lock) {
  const Object& object = object_at(lock);
  const bool orphaned =
      object.robust && object.holder != nullptr && object.holder->state == State::kEnded;
  return (object.holder == nullptr || orphaned) && object.readers == 0;
}

bool has_what_it_needs(const Task& task) {
  const Turn& next = task.next;
  switch (next.kind) {
    case Kind::kLock:
      return is_free(next.object);
    case Kind::kReadLock:
      return object_at(next.object).holder == nullptr;
    case Kind::kWait:
      return task.notified && is_free(next.mutex);
    case Kind::kFutexWait:
    case Kind::kBarrier:
      return task.notified;
    case Kind::kSemaphoreWait:
      // glibc's semaphore on a 64-bit machine: the value is the lower half.
      return (__atomic_load_n(static_cast<const volatile std::uint64_t*>(next.object),
                              __ATOMIC_RELAXED) &
              0xffff'ffff) != 0;
    case Kind::kOnce:
      // glibc's flag: the lowest two bits are 1 while the routine runs.
      return (__atomic_load_n(static_cast<const volatile int*>(next.object), __ATOMIC_ACQUIRE) &
              3) != 1;
    case Kind::kJoin:
      return task.joins == nullptr || task.joins->state == State::kEnded;
    case Kind::kInput:
      return task.input_ready;
    case Kind::kSleep:
      return world.impatient && next.deadline - task.slept_since < kShortSleep;
    case Kind::kNone:
    case Kind::kStart:
    case Kind::kExit:
    case Kind::kCreate:
    case Kind::kTryLock:
    case Kind::kUnlock:
    case Kind::kNotify:
    case Kind::kSemaphorePost:
    case Kind::kFutexWake:
    case Kind::kYield:
    case Kind::kOutside:
    case Kind::kAtomicRead:
    case Kind::kAtomicWrite:
    case Kind::kRead:
    case Kind::kWrite:
      return true;
  }
  return true;
}

}  // namespace

bool can_go_on(Task& task) {
  task.timed_out = false;
  if (task.state == State::kNew) return true;
  if (task.state != State::kReady) return false;
  if (has_what_it_needs(task)) return true;
  const bool over = task.next.deadline <= world.time || task.interrupted ||
                    (task.cancelled && task.next.cancellable);
  if (!over) return false;
  // A wait on a condition ends with the mutex, in any case.
  if (task.next.kind == Kind::kWait && !is_free(task.next.mutex)) return false;
  task.timed_out = true;
  return true;
}

namespace {

// The earliest moment at which somebody's time is over; kNever.
std::uint64_t next_deadline() {
  std::uint64_t earliest = kNever;
  for (std::size_t i = 0; i < world.task_count; ++i) {
    const Task& task = *world.tasks[i];
    if (task.state != State::kReady || task.next.deadline >= earliest) continue;
    if (task.next.kind == Kind::kWait && !is_free(task.next.mutex)) continue;
    earliest = task.next.deadline;
  }
  return earliest;
}

bool is_any(State state) {
  for (std::size_t i = 0; i < world.task_count; ++i) {
    if (world.tasks[i]->state == state) return true;
  }
  return false;
}

enum class Input : std::uint8_t { kNone, kSignals, kAny };

// What is waited for. Signals alone do not keep time from passing: most never come.
Input awaited_input() {
  Input awaited = Input::kNone;
  for (std::size_t i = 0; i < world.task_count; ++i) {
    const Task& task = *world.tasks[i];
    if (task.state != State::kReady || task.next.kind != Kind::kInput) continue;
    if (!task.input.by_signal) return Input::kAny;
    awaited = Input::kSignals;
  }
  return awaited;
}

void say_if_input(Task** tasks, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const Task& task = *tasks[i];
    if (task.next.kind != Kind::kInput || !task.input_ready) continue;
    let_go(task, "input or a signal came from outside");
    return;
  }
}

void ask_for_input() {
  for (std::size_t i = 0; i < world.task_count; ++i) {
    Task& task = *world.tasks[i];
    if (task.state == State::kReady && task.next.kind == Kind::kInput && !task.input_ready) {
      task.input_ready = task.input.ready(task.input);
    }
  }
}

std::size_t find_enabled(Task** enabled) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < world.task_count; ++i) {
    if (can_go_on(*world.tasks[i])) enabled[count++] = world.tasks[i];
  }
  return count;
}

constexpr std::uint64_t kInputEvery = 8;  // steps

}  // namespace

void dispatch(Task* current) {
  for (;;) {
    const Input input = awaited_input();
    if (input != Input::kNone && world.area->trial.steps % kInputEvery == 0) ask_for_input();
    std::size_t count = find_enabled(enabled_tasks);
    if (count < 2 && input != Input::kNone) {
      ask_for_input();
      count = find_enabled(enabled_tasks);
    }
    if (count > 0) {
      // Who woke them, and when, is not on record.
      if (world.stuck) let_go(*enabled_tasks[0], "a signal handler woke a thread");
      world.stuck = false;
      bool current_can = false;
      // The watch had to wait for it: no thread of this process has sent it.
      if (self == nullptr && world.task_count > 1) say_if_input(enabled_tasks, count);
      for (std::size_t i = 0; i < count; ++i) current_can |= enabled_tasks[i] == current;
      Task& next = choose(enabled_tasks, count, current_can ? current : nullptr);
      const bool is_switch = &next != current;
      Trial& trial = world.area->trial;
      if (is_switch) {
        ++trial.switches;
        if (current_can) ++trial.preemptions;
      }
      give_turn(next, is_switch);
      return;
    }
    world.running = nullptr;
    if (world.look_again.exchange(false)) continue;
    const std::uint64_t deadline = next_deadline();
    const bool by_signal = input == Input::kSignals && deadline == kNever;
    if (input == Input::kAny || by_signal || is_any(State::kOutside)) {
      if (self != nullptr) wake_watch();  // otherwise this is the watch
      return;
    }
    if (deadline == kNever) {
      if (!may_be_woken()) deadlock();
      if (self != nullptr) wake_watch();
      return;
    }
    if (deadline > world.time) world.time = deadline;
  }
}

namespace {

// A lock that only one thread ever takes, as far as is known.
bool is_of_no_interest(const Turn& turn) {
  const bool lock = turn.kind == Kind::kLock || turn.kind == Kind::kReadLock;
  return lock && !is_switching_point(turn.pc);
}

}  // namespace

Outcome take_turn(const Turn& turn) {
  Task& task = *self;
  const int saved_errno = errno;
  Outcome outcome = Outcome::kGo;
  {
    ++task.at_work;
    world.gate.lock();
    task.next = turn;
    task.place = place_in_calls(turn.pc);
    if (world.area->settings.strategy == Strategy::kFollow) note_callers(task);
    task.slept_since = world.time;
    task.interrupted = false;
    task.decided = false;
    const bool has_turn = world.running == &task;
    task.state = State::kReady;
    if (has_turn && is_of_no_interest(turn) && can_go_on(task) && !task.timed_out) {
      task.state = State::kRunning;
      world.gate.unlock();
      --task.at_work;
      return Outcome::kGo;
    }
    if (has_turn || world.running == nullptr) dispatch(has_turn ? &task : nullptr);
    world.gate.unlock();
    park(task);
    world.gate.lock();
    if (turn.kind == Kind::kSleep && world.time < turn.deadline && !task.interrupted) {
      world.time = turn.deadline;
    }
    count_step(task);
    task.wait_order = 0;
    if (task.timed_out) {
      const bool by_time = turn.deadline <= world.time;
      outcome = task.interrupted && !by_time ? Outcome::kInterrupted : Outcome::kTimedOut;
    }
    world.gate.unlock();
    --task.at_work;
  }
  if (task.cancelled && turn.cancellable && turn.kind != Kind::kWait) {
    REAL(pthread_testcancel)();
  }
  errno = saved_errno;
  return outcome;
}

void fine_turn(const void* object, Address pc) {
  if (!controlled() || world.area->settings.fine_steps == 0) return;
  take_turn({.kind = Kind::kFutexWake, .object = object, .pc = pc});
}

void fine_turn_to_unlock(const volatile void* lock, Address pc) {
  if (world.area->settings.fine_steps == 0) return;
  take_turn({.kind = Kind::kUnlock, .object = lock, .pc = pc});
}

// --- The world outside.

void let_go(const Task& task, const char* why) {
  Trial& trial = world.area->trial;
  if ((trial.flags & kLetGo) != 0) return;
  trial.flags |= kLetGo;
  std::size_t at = 0;
  while (why[at] != 0 && at + 1 < sizeof(trial.let_go)) {
    trial.let_go[at] = why[at];
    ++at;
  }
  trial.let_go[at] = 0;
  trial.let_go_place = task.next.pc;
}

void go_outside(Address pc, const char* what) {
  take_turn({.kind = Kind::kOutside, .pc = pc, .cancellable = true});
  const AtWork at_work;
  self->state = State::kOutside;
  if (world.task_count > 1) let_go(*self, what);
  dispatch(nullptr);
}

void come_back() { take_turn({.kind = Kind::kOutside}); }

Outcome wait_for_input(const InputWait& wait, std::uint64_t deadline, Address pc) {
  start_watch();
  {
    const AtWork at_work;
    self->input = wait;
    self->input_ready = wait.ready(wait);
  }
  return take_turn({.kind = Kind::kInput,
                    .pc = pc,
                    .deadline = deadline,
                    .cancellable = true,
                    .always_interruptible = true});
}

void signals_come() {
  world.signals = true;
  start_watch();
}

void timers_come() {
  world.timers = true;
  start_watch();
}

void look_again() {
  world.look_again = true;
  wake_watch();
}

}  // namespace tomos::schedule
