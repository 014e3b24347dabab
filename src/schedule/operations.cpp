#include "schedule/operations.h"

#include <errno.h>
#include <linux/futex.h>

#include "runtime/interpose.h"
#include "schedule/clock.h"
#include "schedule/raw.h"
#include "schedule/task.h"

TOMOS_REAL(int, pthread_mutex_lock, pthread_mutex_t*);
TOMOS_REAL(int, pthread_mutex_trylock, pthread_mutex_t*);
TOMOS_REAL(int, pthread_mutex_unlock, pthread_mutex_t*);
TOMOS_REAL(int, pthread_rwlock_rdlock, pthread_rwlock_t*);
TOMOS_REAL(int, pthread_rwlock_wrlock, pthread_rwlock_t*);
TOMOS_REAL(int, pthread_rwlock_tryrdlock, pthread_rwlock_t*);
TOMOS_REAL(int, pthread_rwlock_trywrlock, pthread_rwlock_t*);
TOMOS_REAL(int, pthread_rwlock_unlock, pthread_rwlock_t*);
TOMOS_REAL(int, pthread_spin_trylock, pthread_spinlock_t*);
TOMOS_REAL(int, pthread_spin_unlock, pthread_spinlock_t*);
TOMOS_REAL(int, sem_trywait, sem_t*);
TOMOS_REAL(int, sem_post, sem_t*);
TOMOS_REAL(void, pthread_testcancel);

namespace tomos::schedule {

namespace {

// glibc's mutex kinds.
constexpr int kKindMask = 3;
constexpr int kRobust = 16;

int taken(int error, const volatile void* lock, bool shared, Address pc) {
  if (error == 0 || error == EOWNERDEAD) lock_taken(const_cast<const void*>(lock), shared, pc);
  return error;
}

int tried(int error, const volatile void* lock, bool shared, Address pc) {
  if (error == EBUSY) lock_tried_in_vain();
  return taken(error, lock, shared, pc);
}

// Takes turns until `try_real` has it. If nobody that is controlled holds the lock and it is held
// all the same, `lock_real` waits for those outside.
template <class Try, class Lock>
int lock(Kind kind, const volatile void* lock, std::uint64_t deadline, Address pc, Try try_real,
         Lock lock_real) {
  if (take_turn({.kind = kind, .object = lock, .pc = pc, .deadline = deadline}) != Outcome::kGo) {
    return ETIMEDOUT;
  }
  int error = try_real();
  if (error == EBUSY) {
    const Outside outside(pc, "a lock is held by somebody who is not controlled");
    error = lock_real();
  }
  return taken(error, lock, kind == Kind::kReadLock, pc);
}

}  // namespace

int lock_mutex(pthread_mutex_t* mutex, std::uint64_t deadline, Address pc) {
  const int kind = mutex->__data.__kind;
  if (is_holder(mutex)) {
    if ((kind & kKindMask) == PTHREAD_MUTEX_RECURSIVE) {
      return taken(REAL(pthread_mutex_trylock)(mutex), mutex, false, pc);
    }
    if ((kind & kKindMask) == PTHREAD_MUTEX_ERRORCHECK) return REAL(pthread_mutex_lock)(mutex);
  }
  if ((kind & kRobust) != 0) lock_is_robust(mutex);
  return lock(
      Kind::kLock, mutex, deadline, pc, [&] { return REAL(pthread_mutex_trylock)(mutex); },
      [&] { return REAL(pthread_mutex_lock)(mutex); });
}

int try_lock_mutex(pthread_mutex_t* mutex, Address pc) {
  take_turn({.kind = Kind::kTryLock, .object = mutex, .pc = pc});
  return tried(REAL(pthread_mutex_trylock)(mutex), mutex, false, pc);
}

int unlock_mutex(pthread_mutex_t* mutex, Address pc) {
  fine_turn_to_unlock(mutex, pc);
  const int error = REAL(pthread_mutex_unlock)(mutex);
  if (error == 0) lock_given_back(mutex, pc);
  return error;
}

int lock_for_reading(pthread_rwlock_t* rwlock, std::uint64_t deadline, Address pc) {
  if (is_holder(rwlock)) return REAL(pthread_rwlock_rdlock)(rwlock);  // EDEADLK
  return lock(
      Kind::kReadLock, rwlock, deadline, pc, [&] { return REAL(pthread_rwlock_tryrdlock)(rwlock); },
      [&] { return REAL(pthread_rwlock_rdlock)(rwlock); });
}

int lock_for_writing(pthread_rwlock_t* rwlock, std::uint64_t deadline, Address pc) {
  if (is_holder(rwlock)) return REAL(pthread_rwlock_wrlock)(rwlock);  // EDEADLK
  return lock(
      Kind::kLock, rwlock, deadline, pc, [&] { return REAL(pthread_rwlock_trywrlock)(rwlock); },
      [&] { return REAL(pthread_rwlock_wrlock)(rwlock); });
}

int try_lock_for_reading(pthread_rwlock_t* rwlock, Address pc) {
  take_turn({.kind = Kind::kTryLock, .object = rwlock, .pc = pc});
  return tried(REAL(pthread_rwlock_tryrdlock)(rwlock), rwlock, true, pc);
}

int try_lock_for_writing(pthread_rwlock_t* rwlock, Address pc) {
  take_turn({.kind = Kind::kTryLock, .object = rwlock, .pc = pc});
  return tried(REAL(pthread_rwlock_trywrlock)(rwlock), rwlock, false, pc);
}

int unlock_rwlock(pthread_rwlock_t* rwlock, Address pc) {
  fine_turn_to_unlock(rwlock, pc);
  const int error = REAL(pthread_rwlock_unlock)(rwlock);
  if (error == 0) lock_given_back(rwlock, pc);
  return error;
}

int lock_spin(pthread_spinlock_t* spin, Address pc) {
  return lock(
      Kind::kLock, spin, kNever, pc, [&] { return REAL(pthread_spin_trylock)(spin); },
      [&] {
        while (REAL(pthread_spin_trylock)(spin) == EBUSY) __builtin_ia32_pause();
        return 0;
      });
}

int try_lock_spin(pthread_spinlock_t* spin, Address pc) {
  take_turn({.kind = Kind::kTryLock, .object = spin, .pc = pc});
  return tried(REAL(pthread_spin_trylock)(spin), spin, false, pc);
}

int unlock_spin(pthread_spinlock_t* spin, Address pc) {
  fine_turn_to_unlock(spin, pc);
  const int error = REAL(pthread_spin_unlock)(spin);
  if (error == 0) lock_given_back(const_cast<const int*>(spin), pc);
  return error;
}

// --- Condition variables. The real one is never waited at, so nobody need be woken there.

int wait_condition(pthread_cond_t* condition, pthread_mutex_t* mutex, std::uint64_t deadline,
                   Address pc) {
  // Between the look at what is waited for and the wait itself, a notify without the mutex fits.
  take_turn({.kind = Kind::kNotify, .object = condition, .pc = pc, .cancellable = true});
  const int error = REAL(pthread_mutex_unlock)(mutex);
  if (error != 0) return error;
  lock_given_back_to_wait(mutex);
  begin_wait(condition);
  const Outcome outcome = take_turn({.kind = Kind::kWait,
                                     .object = condition,
                                     .pc = pc,
                                     .deadline = deadline,
                                     .cancellable = true,
                                     .mutex = mutex});
  int again = REAL(pthread_mutex_trylock)(mutex);
  if (again == EBUSY) {
    const Outside outside(pc, "a lock is held by somebody who is not controlled");
    again = REAL(pthread_mutex_lock)(mutex);
  }
  taken(again, mutex, false, pc);
  if (self->cancelled) REAL(pthread_testcancel)();
  if (again != 0) return again;
  return outcome == Outcome::kTimedOut && deadline != kNever ? ETIMEDOUT : 0;
}

void notify_condition(pthread_cond_t* condition, bool all, Address pc) {
  take_turn({.kind = Kind::kNotify, .object = condition, .pc = pc});
  condition_notified(condition, all);
}

clockid_t clock_of(const pthread_cond_t* condition) {
  return (condition->__data.__wrefs & 2) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

bool is_shared(const pthread_cond_t* condition) { return (condition->__data.__wrefs & 1) != 0; }

// In glibc's semaphore on a 64-bit machine: the value, then whether it is private.
bool is_shared(const sem_t* semaphore) {
  int shared = 0;
  __builtin_memcpy(&shared, reinterpret_cast<const char*>(semaphore) + 8, sizeof(shared));
  return shared != 0;
}

// --- Semaphores.

int wait_semaphore(sem_t* semaphore, std::uint64_t deadline, Address pc) {
  for (;;) {
    const Outcome outcome = take_turn({.kind = Kind::kSemaphoreWait,
                                       .object = semaphore,
                                       .pc = pc,
                                       .deadline = deadline,
                                       .cancellable = true,
                                       .interruptible = true});
    if (outcome != Outcome::kGo) {
      errno = outcome == Outcome::kTimedOut ? ETIMEDOUT : EINTR;
      return -1;
    }
    if (REAL(sem_trywait)(semaphore) == 0) return 0;
    if (errno != EAGAIN) return -1;
  }
}

int try_wait_semaphore(sem_t* semaphore, Address pc) {
  take_turn({.kind = Kind::kTryLock, .object = semaphore, .pc = pc});
  const int result = REAL(sem_trywait)(semaphore);
  if (result != 0) {
    const int error = errno;
    lock_tried_in_vain();
    errno = error;
  }
  return result;
}

int post_semaphore(sem_t* semaphore, Address pc) {
  take_turn({.kind = Kind::kSemaphorePost, .object = semaphore, .pc = pc});
  return REAL(sem_post)(semaphore);
}

// --- Barriers. As with condition variables, nobody waits at the real one.

int wait_at_barrier(pthread_barrier_t* barrier, std::uint32_t count, Address pc) {
  const bool last = barrier_arrived(barrier, count);
  take_turn({.kind = Kind::kBarrier, .object = barrier, .pc = pc});
  return last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

// --- Futexes, as programs use them themselves: C++20's atomic waits, futures.

long futex(std::uint32_t* word, int operation, std::uint32_t value, const timespec* time,
           std::uint32_t bits, Address pc) {
  const int command = operation & FUTEX_CMD_MASK;
  take_turn({.kind = Kind::kFutexWake, .object = word, .pc = pc});
  if (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET) {
    const std::uint32_t woken =
        futex_woken(word, value, command == FUTEX_WAKE ? FUTEX_BITSET_MATCH_ANY : bits);
    if (woken >= value) return woken;
    const long others =
        raw_call(SYS_futex, reinterpret_cast<long>(word), operation, value - woken, 0, 0, bits);
    return others > 0 ? woken + others : woken;
  }
  if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value) {
    errno = EAGAIN;
    return -1;
  }
  const bool absolute = command == FUTEX_WAIT_BITSET;
  const clockid_t clock =
      (operation & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
  const std::uint64_t deadline = absolute ? deadline_at(clock, time) : deadline_after(time);
  begin_futex_wait(word, absolute ? bits : FUTEX_BITSET_MATCH_ANY);
  const Outcome outcome = take_turn({.kind = Kind::kFutexWait,
                                     .object = word,
                                     .pc = pc,
                                     .deadline = deadline,
                                     .interruptible = true});
  if (outcome == Outcome::kGo) return 0;
  errno = outcome == Outcome::kTimedOut ? ETIMEDOUT : EINTR;
  return -1;
}

bool sleep_until(std::uint64_t deadline, timespec* left, Address pc) {
  const Outcome outcome = take_turn({.kind = Kind::kSleep,
                                     .pc = pc,
                                     .deadline = deadline,
                                     .cancellable = true,
                                     .always_interruptible = true});
  if (outcome != Outcome::kInterrupted) return true;
  if (left != nullptr) *left = left_until(deadline);
  return false;
}

}  // namespace tomos::schedule
