// Locks: mutexes, reader-writer locks and spin locks of pthreads, and C11's mutexes.
//
// Taken is told after the real operation, given back before it: so what is told of one lock is in
// the order in which its holders had it.
#include <errno.h>
#include <pthread.h>
#include <threads.h>
#include <time.h>

#include "runtime/interpose.h"
#include "schedule/clock.h"
#include "schedule/operations.h"

using namespace tomos::runtime;
namespace schedule = tomos::schedule;

// The operation under control of the scheduler, or else the real one.
#define TOMOS_EITHER(controlled_one, real_one) \
  (schedule::controlled() ? (controlled_one) : (real_one))

namespace {

// EOWNERDEAD: the last holder died, and the lock is taken all the same.
int told_taken(int error, const void* lock, LockMode mode, Address pc,
               Taking how = Taking::kWaiting) {
  if ((error == 0 || error == EOWNERDEAD) && !inside()) acquired(lock, mode, pc, how);
  return error;
}

// A C11 mutex.
int told_locked(int result, const void* lock, Address pc, Taking how = Taking::kWaiting) {
  if (result == thrd_success && !inside()) acquired(lock, LockMode::kWrite, pc, how);
  return result;
}

void tell_releasing(const void* lock, LockMode mode, Address pc) {
  if (!inside()) releasing(lock, mode, pc);
}

// After the real operation, which fails on a lock that is held: the memory is the caller's until it
// returns, so nobody can have made another lock there.
int told_destroyed(int error, const void* lock, Address pc) {
  if (error == 0 && !inside()) destroyed(lock, pc);
  return error;
}

// While a writer holds the lock nobody else can give it back.
LockMode held_mode(const pthread_rwlock_t* lock) {
  return __atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED) != 0 ? LockMode::kWrite
                                                                            : LockMode::kRead;
}

}  // namespace

// --- Mutexes.

TOMOS_INTERPOSE(int, pthread_mutex_lock, pthread_mutex_t* mutex) {
  return told_taken(TOMOS_EITHER(schedule::lock_mutex(mutex, schedule::kNever, TOMOS_CALLER()),
                                 REAL(pthread_mutex_lock)(mutex)),
                    mutex, LockMode::kWrite, TOMOS_CALLER());
}
TOMOS_INTERPOSE(int, pthread_mutex_trylock, pthread_mutex_t* mutex) {
  return told_taken(TOMOS_EITHER(schedule::try_lock_mutex(mutex, TOMOS_CALLER()),
                                 REAL(pthread_mutex_trylock)(mutex)),
                    mutex, LockMode::kWrite, TOMOS_CALLER(), Taking::kTrying);
}
TOMOS_INTERPOSE(int, pthread_mutex_timedlock, pthread_mutex_t* mutex, const timespec* until) {
  return told_taken(
      TOMOS_EITHER(
          schedule::lock_mutex(mutex, schedule::deadline_at(CLOCK_REALTIME, until), TOMOS_CALLER()),
          REAL(pthread_mutex_timedlock)(mutex, until)),
      mutex, LockMode::kWrite, TOMOS_CALLER());
}
TOMOS_INTERPOSE(int, pthread_mutex_clocklock, pthread_mutex_t* mutex, clockid_t clock,
                const timespec* until) {
  return told_taken(
      TOMOS_EITHER(schedule::lock_mutex(mutex, schedule::deadline_at(clock, until), TOMOS_CALLER()),
                   REAL(pthread_mutex_clocklock)(mutex, clock, until)),
      mutex, LockMode::kWrite, TOMOS_CALLER());
}
TOMOS_INTERPOSE(int, pthread_mutex_unlock, pthread_mutex_t* mutex) {
  tell_releasing(mutex, LockMode::kWrite, TOMOS_CALLER());
  return TOMOS_EITHER(schedule::unlock_mutex(mutex, TOMOS_CALLER()),
                      REAL(pthread_mutex_unlock)(mutex));
}
TOMOS_INTERPOSE(int, pthread_mutex_destroy, pthread_mutex_t* mutex) {
  return told_destroyed(REAL(pthread_mutex_destroy)(mutex), mutex, TOMOS_CALLER());
}

// --- Reader-writer locks.

TOMOS_INTERPOSE(int, pthread_rwlock_rdlock, pthread_rwlock_t* lock) {
  return told_taken(TOMOS_EITHER(schedule::lock_for_reading(lock, schedule::kNever, TOMOS_CALLER()),
                                 REAL(pthread_rwlock_rdlock)(lock)),
                    lock, LockMode::kRead, TOMOS_CALLER());
}
TOMOS_INTERPOSE(int, pthread_rwlock_tryrdlock, pthread_rwlock_t* lock) {
  return told_taken(TOMOS_EITHER(schedule::try_lock_for_reading(lock, TOMOS_CALLER()),
                                 REAL(pthread_rwlock_tryrdlock)(lock)),
                    lock, LockMode::kRead, TOMOS_CALLER(), Taking::kTrying);
}
TOMOS_INTERPOSE(int, pthread_rwlock_timedrdlock, pthread_rwlock_t* lock, const timespec* until) {
  return told_taken(
      TOMOS_EITHER(schedule::lock_for_reading(lock, schedule::deadline_at(CLOCK_REALTIME, until),
                                              TOMOS_CALLER()),
                   REAL(pthread_rwlock_timedrdlock)(lock, until)),
      lock, LockMode::kRead, TOMOS_CALLER());
}
TOMOS_INTERPOSE(int, pthread_rwlock_clockrdlock, pthread_rwlock_t* lock, clockid_t clock,
                const timespec* until) {
  return told_taken(TOMOS_EITHER(schedule::lock_for_reading(
                                     lock, schedule::deadline_at(clock, until), TOMOS_CALLER()),
                                 REAL(pthread_rwlock_clockrdlock)(lock, clock, until)),
                    lock, LockMode::kRead, TOMOS_CALLER());
}
TOMOS_INTERPOSE(int, pthread_rwlock_wrlock, pthread_rwlock_t* lock) {
  return told_taken(TOMOS_EITHER(schedule::lock_for_writing(lock, schedule::kNever, TOMOS_CALLER()),
                                 REAL(pthread_rwlock_wrlock)(lock)),
                    lock, LockMode::kWrite, TOMOS_CALLER());
}
TOMOS_INTERPOSE(int, pthread_rwlock_trywrlock, pthread_rwlock_t* lock) {
  return told_taken(TOMOS_EITHER(schedule::try_lock_for_writing(lock, TOMOS_CALLER()),
                                 REAL(pthread_rwlock_trywrlock)(lock)),
                    lock, LockMode::kWrite, TOMOS_CALLER(), Taking::kTrying);
}
TOMOS_INTERPOSE(int, pthread_rwlock_timedwrlock, pthread_rwlock_t* lock, const timespec* until) {
  return told_taken(
      TOMOS_EITHER(schedule::lock_for_writing(lock, schedule::deadline_at(CLOCK_REALTIME, until),
                                              TOMOS_CALLER()),
                   REAL(pthread_rwlock_timedwrlock)(lock, until)),
      lock, LockMode::kWrite, TOMOS_CALLER());
}
TOMOS_INTERPOSE(int, pthread_rwlock_clockwrlock, pthread_rwlock_t* lock, clockid_t clock,
                const timespec* until) {
  return told_taken(TOMOS_EITHER(schedule::lock_for_writing(
                                     lock, schedule::deadline_at(clock, until), TOMOS_CALLER()),
                                 REAL(pthread_rwlock_clockwrlock)(lock, clock, until)),
                    lock, LockMode::kWrite, TOMOS_CALLER());
}
TOMOS_INTERPOSE(int, pthread_rwlock_unlock, pthread_rwlock_t* lock) {
  tell_releasing(lock, held_mode(lock), TOMOS_CALLER());
  return TOMOS_EITHER(schedule::unlock_rwlock(lock, TOMOS_CALLER()),
                      REAL(pthread_rwlock_unlock)(lock));
}
TOMOS_INTERPOSE(int, pthread_rwlock_destroy, pthread_rwlock_t* lock) {
  return told_destroyed(REAL(pthread_rwlock_destroy)(lock), lock, TOMOS_CALLER());
}

// --- Spin locks. The casts take the volatile off an address that is not looked into.

TOMOS_INTERPOSE(int, pthread_spin_lock, pthread_spinlock_t* lock) {
  return told_taken(
      TOMOS_EITHER(schedule::lock_spin(lock, TOMOS_CALLER()), REAL(pthread_spin_lock)(lock)),
      const_cast<const int*>(lock), LockMode::kWrite, TOMOS_CALLER());
}
TOMOS_INTERPOSE(int, pthread_spin_trylock, pthread_spinlock_t* lock) {
  return told_taken(
      TOMOS_EITHER(schedule::try_lock_spin(lock, TOMOS_CALLER()), REAL(pthread_spin_trylock)(lock)),
      const_cast<const int*>(lock), LockMode::kWrite, TOMOS_CALLER(), Taking::kTrying);
}
TOMOS_INTERPOSE(int, pthread_spin_unlock, pthread_spinlock_t* lock) {
  tell_releasing(const_cast<const int*>(lock), LockMode::kWrite, TOMOS_CALLER());
  return TOMOS_EITHER(schedule::unlock_spin(lock, TOMOS_CALLER()), REAL(pthread_spin_unlock)(lock));
}
TOMOS_INTERPOSE(int, pthread_spin_destroy, pthread_spinlock_t* lock) {
  return told_destroyed(REAL(pthread_spin_destroy)(lock), const_cast<const int*>(lock),
                        TOMOS_CALLER());
}

// --- C11's mutexes, which glibc does not build on the public functions above.

namespace {

// A mtx_t is a pthread_mutex_t in glibc.
pthread_mutex_t* as_mutex(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }

int as_c11(int error) {
  return error == 0           ? thrd_success
         : error == EBUSY     ? thrd_busy
         : error == ETIMEDOUT ? thrd_timedout
                              : thrd_error;
}

}  // namespace

TOMOS_INTERPOSE(int, mtx_lock, mtx_t* mutex) {
  return told_locked(
      TOMOS_EITHER(as_c11(schedule::lock_mutex(as_mutex(mutex), schedule::kNever, TOMOS_CALLER())),
                   REAL(mtx_lock)(mutex)),
      mutex, TOMOS_CALLER());
}
TOMOS_INTERPOSE(int, mtx_trylock, mtx_t* mutex) {
  return told_locked(TOMOS_EITHER(as_c11(schedule::try_lock_mutex(as_mutex(mutex), TOMOS_CALLER())),
                                  REAL(mtx_trylock)(mutex)),
                     mutex, TOMOS_CALLER(), Taking::kTrying);
}
TOMOS_INTERPOSE(int, mtx_timedlock, mtx_t* mutex, const timespec* until) {
  return told_locked(TOMOS_EITHER(as_c11(schedule::lock_mutex(
                                      as_mutex(mutex), schedule::deadline_at(CLOCK_REALTIME, until),
                                      TOMOS_CALLER())),
                                  REAL(mtx_timedlock)(mutex, until)),
                     mutex, TOMOS_CALLER());
}
TOMOS_INTERPOSE(int, mtx_unlock, mtx_t* mutex) {
  tell_releasing(mutex, LockMode::kWrite, TOMOS_CALLER());
  return TOMOS_EITHER(as_c11(schedule::unlock_mutex(as_mutex(mutex), TOMOS_CALLER())),
                      REAL(mtx_unlock)(mutex));
}
TOMOS_INTERPOSE(void, mtx_destroy, mtx_t* mutex) {
  if (!inside()) destroyed(mutex, TOMOS_CALLER());
  REAL(mtx_destroy)(mutex);
}
