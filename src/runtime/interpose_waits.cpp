// Waiting for one another: condition variables, barriers, semaphores, once, and the guards of
// static variables.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

#include "runtime/address_table.h"
#include "runtime/guards.h"
#include "runtime/interpose.h"
#include "schedule/clock.h"
#include "schedule/operations.h"

using namespace tomos::runtime;
namespace schedule = tomos::schedule;

// --- Condition variables. A thread that is cancelled in its wait has the mutex again when its
// clean-up handlers run; ours is the first of them.

namespace {

struct Wait {
  const void* condition;
  const void* mutex;
  Address pc;
};

void has_mutex_again(void* data) {
  const Wait& wait = *static_cast<const Wait*>(data);
  acquired(wait.mutex, LockMode::kWrite, wait.pc);
}

// `woken` is the result of a wait that somebody ended; after one that ran out of time the mutex is
// held again too. Only who did not hold it (EPERM) does not hold it now.
template <class WaitReal>
int tell_wait(Wait wait, int woken, WaitReal wait_real) {
  if (inside()) return wait_real();
  waiting(wait.pc, wait.mutex);
  releasing(wait.mutex, LockMode::kWrite, wait.pc);
  int result = 0;
  pthread_cleanup_push(has_mutex_again, &wait);
  result = wait_real();
  pthread_cleanup_pop(0);
  if (result != EPERM) has_mutex_again(&wait);
  if (result == woken) wait_over(wait.condition, wait.pc, OrderKind::kCondition);
  return result;
}

// pthreads refuses such a time without touching the mutex.
bool is_time(const timespec* time) { return time->tv_nsec >= 0 && time->tv_nsec < 1'000'000'000; }

void tell_signal(const void* object, Address pc, OrderKind kind) {
  if (!inside()) signal(object, pc, kind);
}

// Waits at the condition variable, under control if the thread is and nobody in another process can
// notify it.
template <class WaitReal>
int wait_at(pthread_cond_t* condition, pthread_mutex_t* mutex, std::uint64_t deadline, Address pc,
            WaitReal wait_real) {
  if (!schedule::controlled()) return wait_real();
  if (schedule::is_shared(condition)) {
    const schedule::Outside outside(pc, "a condition variable of several processes");
    return wait_real();
  }
  return schedule::wait_condition(condition, mutex, deadline, pc);
}

// True: nobody waits at the real one.
bool notify_at(pthread_cond_t* condition, bool all, Address pc) {
  if (!schedule::controlled() || schedule::is_shared(condition)) return false;
  schedule::notify_condition(condition, all, pc);
  return true;
}

// A cnd_t is a pthread_cond_t in glibc.
pthread_cond_t* as_condition(cnd_t* condition) {
  return reinterpret_cast<pthread_cond_t*>(condition);
}
pthread_mutex_t* as_mutex(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }

constexpr const char* kConditionVersion = "GLIBC_2.3.2";  // the older ones hold a pointer

}  // namespace

TOMOS_INTERPOSE_VERSION(int, pthread_cond_wait, kConditionVersion, pthread_cond_t* condition,
                        pthread_mutex_t* mutex) {
  const Address pc = TOMOS_CALLER();
  return tell_wait({condition, mutex, pc}, 0, [&] {
    return wait_at(condition, mutex, schedule::kNever, pc,
                   [&] { return REAL(pthread_cond_wait)(condition, mutex); });
  });
}
TOMOS_INTERPOSE_VERSION(int, pthread_cond_timedwait, kConditionVersion, pthread_cond_t* condition,
                        pthread_mutex_t* mutex, const timespec* until) {
  const Address pc = TOMOS_CALLER();
  if (!is_time(until)) return REAL(pthread_cond_timedwait)(condition, mutex, until);
  return tell_wait({condition, mutex, pc}, 0, [&] {
    return wait_at(condition, mutex, schedule::deadline_at(schedule::clock_of(condition), until),
                   pc, [&] { return REAL(pthread_cond_timedwait)(condition, mutex, until); });
  });
}
TOMOS_INTERPOSE(int, pthread_cond_clockwait, pthread_cond_t* condition, pthread_mutex_t* mutex,
                clockid_t clock, const timespec* until) {
  const Address pc = TOMOS_CALLER();
  if (!is_time(until)) return REAL(pthread_cond_clockwait)(condition, mutex, clock, until);
  return tell_wait({condition, mutex, pc}, 0, [&] {
    return wait_at(condition, mutex, schedule::deadline_at(clock, until), pc,
                   [&] { return REAL(pthread_cond_clockwait)(condition, mutex, clock, until); });
  });
}
TOMOS_INTERPOSE_VERSION(int, pthread_cond_signal, kConditionVersion, pthread_cond_t* condition) {
  tell_signal(condition, TOMOS_CALLER(), OrderKind::kCondition);
  if (notify_at(condition, false, TOMOS_CALLER())) return 0;
  return REAL(pthread_cond_signal)(condition);
}
TOMOS_INTERPOSE_VERSION(int, pthread_cond_broadcast, kConditionVersion, pthread_cond_t* condition) {
  tell_signal(condition, TOMOS_CALLER(), OrderKind::kCondition);
  if (notify_at(condition, true, TOMOS_CALLER())) return 0;
  return REAL(pthread_cond_broadcast)(condition);
}

TOMOS_INTERPOSE(int, cnd_wait, cnd_t* condition, mtx_t* mutex) {
  const Address pc = TOMOS_CALLER();
  return tell_wait({condition, mutex, pc}, thrd_success, [&] {
    return wait_at(as_condition(condition), as_mutex(mutex), schedule::kNever, pc,
                   [&] { return REAL(cnd_wait)(condition, mutex); });
  });
}
TOMOS_INTERPOSE(int, cnd_timedwait, cnd_t* condition, mtx_t* mutex, const timespec* until) {
  const Address pc = TOMOS_CALLER();
  if (!is_time(until)) return REAL(cnd_timedwait)(condition, mutex, until);
  return tell_wait({condition, mutex, pc}, thrd_success, [&] {
    const int result = wait_at(as_condition(condition), as_mutex(mutex),
                               schedule::deadline_at(CLOCK_REALTIME, until), pc,
                               [&] { return REAL(cnd_timedwait)(condition, mutex, until); });
    return result == ETIMEDOUT ? static_cast<int>(thrd_timedout) : result;
  });
}
TOMOS_INTERPOSE(int, cnd_signal, cnd_t* condition) {
  tell_signal(condition, TOMOS_CALLER(), OrderKind::kCondition);
  if (notify_at(as_condition(condition), false, TOMOS_CALLER())) return thrd_success;
  return REAL(cnd_signal)(condition);
}
TOMOS_INTERPOSE(int, cnd_broadcast, cnd_t* condition) {
  tell_signal(condition, TOMOS_CALLER(), OrderKind::kCondition);
  if (notify_at(as_condition(condition), true, TOMOS_CALLER())) return thrd_success;
  return REAL(cnd_broadcast)(condition);
}

// --- Barriers. How many threads meet is known from the barrier's start only: pthreads does not
// say.

namespace {

constinit AddressTable<std::uint32_t> barriers;

std::uint32_t threads_at(const void* barrier) {
  const Guard guard(barriers.lock());
  const auto* const record = barriers.find(reinterpret_cast<Address>(barrier));
  return record == nullptr ? 0 : record->value;
}

void forget_barrier(const void* barrier) {
  const Guard guard(barriers.lock());
  auto* const record = barriers.find(reinterpret_cast<Address>(barrier));
  if (record == nullptr) return;
  barriers.remove(record);
  barriers.give_back(record);
}

}  // namespace

namespace tomos::runtime {

void lock_barrier_table() { barriers.lock().lock(); }
void unlock_barrier_table() { barriers.lock().unlock(); }

}  // namespace tomos::runtime

TOMOS_INTERPOSE(int, pthread_barrier_init, pthread_barrier_t* barrier,
                const pthread_barrierattr_t* attributes, unsigned count) {
  const int error = REAL(pthread_barrier_init)(barrier, attributes, count);
  if (error != 0) return error;
  forget_barrier(barrier);  // the memory may have been given back with a barrier in it
  const Guard guard(barriers.lock());
  if (auto* const record = barriers.make(); record != nullptr) {
    record->value = count;
    barriers.insert(record, reinterpret_cast<Address>(barrier));
  }
  return error;
}
TOMOS_INTERPOSE(int, pthread_barrier_wait, pthread_barrier_t* barrier) {
  const std::uint32_t count = inside() ? 0 : threads_at(barrier);
  if (count == 0) return REAL(pthread_barrier_wait)(barrier);
  barrier_arrive(barrier, count, TOMOS_CALLER());
  const int result = schedule::controlled()
                         ? schedule::wait_at_barrier(barrier, count, TOMOS_CALLER())
                         : REAL(pthread_barrier_wait)(barrier);
  barrier_leave(barrier, TOMOS_CALLER());
  return result;
}
TOMOS_INTERPOSE(int, pthread_barrier_destroy, pthread_barrier_t* barrier) {
  const int error = REAL(pthread_barrier_destroy)(barrier);
  if (error == 0) forget_barrier(barrier);
  return error;
}

// --- Semaphores.

namespace {

// The semaphore under control of the scheduler; false: it is not.
bool is_controlled(const sem_t* semaphore) {
  return schedule::controlled() && !schedule::is_shared(semaphore);
}

int told_passed(int result, sem_t* semaphore, Address pc) {
  if (result != 0 || inside()) return result;
  int left = 0;
  sem_getvalue(semaphore, &left);
  semaphore_passed(semaphore, static_cast<std::uint64_t>(left), pc);
  return result;
}

}  // namespace

TOMOS_INTERPOSE(int, sem_wait, sem_t* semaphore) {
  return told_passed(is_controlled(semaphore)
                         ? schedule::wait_semaphore(semaphore, schedule::kNever, TOMOS_CALLER())
                         : REAL(sem_wait)(semaphore),
                     semaphore, TOMOS_CALLER());
}
TOMOS_INTERPOSE(int, sem_trywait, sem_t* semaphore) {
  return told_passed(is_controlled(semaphore)
                         ? schedule::try_wait_semaphore(semaphore, TOMOS_CALLER())
                         : REAL(sem_trywait)(semaphore),
                     semaphore, TOMOS_CALLER());
}
TOMOS_INTERPOSE(int, sem_timedwait, sem_t* semaphore, const timespec* until) {
  return told_passed(
      is_controlled(semaphore)
          ? schedule::wait_semaphore(semaphore, schedule::deadline_at(CLOCK_REALTIME, until),
                                     TOMOS_CALLER())
          : REAL(sem_timedwait)(semaphore, until),
      semaphore, TOMOS_CALLER());
}
TOMOS_INTERPOSE(int, sem_clockwait, sem_t* semaphore, clockid_t clock, const timespec* until) {
  return told_passed(
      is_controlled(semaphore)
          ? schedule::wait_semaphore(semaphore, schedule::deadline_at(clock, until), TOMOS_CALLER())
          : REAL(sem_clockwait)(semaphore, clock, until),
      semaphore, TOMOS_CALLER());
}
TOMOS_INTERPOSE(int, sem_post, sem_t* semaphore) {
  if (!inside()) semaphore_posting(semaphore, 1, TOMOS_CALLER());
  if (schedule::controlled()) return schedule::post_semaphore(semaphore, TOMOS_CALLER());
  const int result = REAL(sem_post)(semaphore);
  if (schedule::self != nullptr) schedule::look_again();  // a signal handler
  return result;
}
TOMOS_INTERPOSE(int, sem_destroy, sem_t* semaphore) {
  const int error = REAL(sem_destroy)(semaphore);
  if (error == 0 && !inside()) destroyed(semaphore, TOMOS_CALLER());
  return error;
}

// --- Once. The routine has no parameter, so what our stand-in for it has to do is left in the
// thread. It looks there first of all: a routine may itself ask for another once.

namespace {

struct Once {
  const void* flag;
  void (*routine)();
  Address pc;
};
constinit thread_local Once once = {};

void run_once() {
  const Once mine = once;
  mine.routine();
  tell_signal(mine.flag, mine.pc, OrderKind::kPlain);
}

// Until it is not in progress in another thread.
void turn_to_once(const volatile void* flag, Address pc) {
  if (!schedule::controlled()) return;
  schedule::take_turn({.kind = schedule::Kind::kOnce, .object = flag, .pc = pc});
}

// Libraries ask again and again (the unwinder does at every throw) for what was done long ago.
// Their flags stay; one of the program's own may be made anew in the same place.
void tell_done(const void* flag, Address pc) {
  if (inside()) return;
  if (from_instrumented(pc) || !has_waited_before(flag)) wait_over(flag, pc);
}

}  // namespace

TOMOS_INTERPOSE(int, pthread_once, pthread_once_t* flag, void (*routine)()) {
  turn_to_once(flag, TOMOS_CALLER());
  once = {flag, routine, TOMOS_CALLER()};
  const int error = REAL(pthread_once)(flag, run_once);
  if (error == 0) tell_done(flag, TOMOS_CALLER());
  return error;
}
TOMOS_INTERPOSE(void, call_once, once_flag* flag, void (*routine)()) {
  turn_to_once(flag, TOMOS_CALLER());
  once = {flag, routine, TOMOS_CALLER()};
  REAL(call_once)(flag, run_once);
  tell_done(flag, TOMOS_CALLER());
}
