// The operations of pthreads and the kernel that can block or wake, under control: each takes its
// turn, does the real thing when it cannot block, and keeps the scheduler's books. They return what
// the real ones would.
#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include <cstdint>

#include "schedule/control.h"

namespace tomos::schedule {

int lock_mutex(pthread_mutex_t* mutex, std::uint64_t deadline, Address pc);
int try_lock_mutex(pthread_mutex_t* mutex, Address pc);
int unlock_mutex(pthread_mutex_t* mutex, Address pc);

int lock_for_reading(pthread_rwlock_t* lock, std::uint64_t deadline, Address pc);
int lock_for_writing(pthread_rwlock_t* lock, std::uint64_t deadline, Address pc);
int try_lock_for_reading(pthread_rwlock_t* lock, Address pc);
int try_lock_for_writing(pthread_rwlock_t* lock, Address pc);
int unlock_rwlock(pthread_rwlock_t* lock, Address pc);

int lock_spin(pthread_spinlock_t* lock, Address pc);
int try_lock_spin(pthread_spinlock_t* lock, Address pc);
int unlock_spin(pthread_spinlock_t* lock, Address pc);

int wait_condition(pthread_cond_t* condition, pthread_mutex_t* mutex, std::uint64_t deadline,
                   Address pc);
void notify_condition(pthread_cond_t* condition, bool all, Address pc);
// The clock that a condition variable's time-outs are on.
clockid_t clock_of(const pthread_cond_t* condition);
// Whether other processes may use it too.
bool is_shared(const pthread_cond_t* condition);
bool is_shared(const sem_t* semaphore);

// -1 and errno, as the real ones.
int wait_semaphore(sem_t* semaphore, std::uint64_t deadline, Address pc);
int try_wait_semaphore(sem_t* semaphore, Address pc);
int post_semaphore(sem_t* semaphore, Address pc);

int wait_at_barrier(pthread_barrier_t* barrier, std::uint32_t count, Address pc);

// -1 and errno. `time` is a duration for FUTEX_WAIT and a moment for FUTEX_WAIT_BITSET.
long futex(std::uint32_t* word, int operation, std::uint32_t value, const timespec* time,
           std::uint32_t bits, Address pc);

// False: a signal ended it. `left` as nanosleep says it, or nullptr.
bool sleep_until(std::uint64_t deadline, timespec* left, Address pc);

// For a call that may block, and of which the scheduler knows no more.
class Outside {
 public:
  Outside(Address pc, const char* what) : outside_(controlled()) {
    if (outside_) go_outside(pc, what);
  }
  ~Outside() {
    if (outside_) come_back();
  }
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

 private:
  bool outside_;
};

}  // namespace tomos::schedule
