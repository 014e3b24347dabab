// Locks and waits, as the interposition layer tells them.
#include <errno.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

#include <mutex>
#include <shared_mutex>
#include <thread>

#include "log.h"

namespace tomos::test {
namespace {

TEST(InterposeLocks, Mutex) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const std::size_t start = told_so_far();
  pthread_mutex_lock(&mutex);
  EXPECT_EQ(pthread_mutex_trylock(&mutex), EBUSY);
  pthread_mutex_unlock(&mutex);
  pthread_mutex_destroy(&mutex);
  EXPECT_EQ(told_of(&mutex, start), "acquired releasing destroyed");
}

TEST(InterposeLocks, Recursive) {
  std::recursive_mutex mutex;
  const std::size_t start = told_so_far();
  mutex.lock();
  mutex.lock();
  mutex.unlock();
  mutex.unlock();
  EXPECT_EQ(told_of(&mutex, start).substr(0, 37), "acquired acquired releasing releasing");
}

TEST(InterposeLocks, DeadOwner) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_t mutex;
  pthread_mutex_init(&mutex, &attributes);
  std::thread([&] { pthread_mutex_lock(&mutex); }).join();
  const std::size_t start = told_so_far();
  EXPECT_EQ(pthread_mutex_lock(&mutex), EOWNERDEAD);
  EXPECT_EQ(told_of(&mutex, start), "acquired");
  pthread_mutex_consistent(&mutex);
  pthread_mutex_unlock(&mutex);
}

TEST(InterposeLocks, ReaderWriter) {
  std::shared_mutex mutex;
  const std::size_t start = told_so_far();
  mutex.lock_shared();
  EXPECT_FALSE(mutex.try_lock());
  mutex.unlock_shared();
  mutex.lock();
  EXPECT_FALSE(mutex.try_lock_shared());
  mutex.unlock();
  EXPECT_EQ(told_of(&mutex, start), "racquired rreleasing acquired releasing");
}

TEST(InterposeLocks, Spin) {
  pthread_spinlock_t lock = 0;
  pthread_spin_init(&lock, 0);
  const std::size_t start = told_so_far();
  pthread_spin_lock(&lock);
  EXPECT_EQ(pthread_spin_trylock(&lock), EBUSY);
  pthread_spin_unlock(&lock);
  pthread_spin_destroy(&lock);
  EXPECT_EQ(told_of(const_cast<int*>(&lock), start), "acquired releasing destroyed");
}

TEST(InterposeLocks, C11) {
  mtx_t mutex;
  mtx_init(&mutex, mtx_plain);
  const std::size_t start = told_so_far();
  mtx_lock(&mutex);
  EXPECT_EQ(mtx_trylock(&mutex), thrd_busy);
  mtx_unlock(&mutex);
  mtx_destroy(&mutex);
  EXPECT_EQ(told_of(&mutex, start), "acquired releasing destroyed");
}

struct Condition {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  bool waits = false;
  bool ready = false;
};

void await(Condition& shared) {
  pthread_mutex_lock(&shared.mutex);
  shared.waits = true;
  while (!shared.ready) pthread_cond_wait(&shared.condition, &shared.mutex);
  pthread_mutex_unlock(&shared.mutex);
}

// Returns with the mutex held and the other thread in its wait.
void lock_when_waited_for(Condition& shared) {
  for (;;) {
    pthread_mutex_lock(&shared.mutex);
    if (shared.waits) return;
    pthread_mutex_unlock(&shared.mutex);
    sched_yield();
  }
}

TEST(InterposeWaits, Condition) {
  Condition shared;
  const std::size_t start = told_so_far();
  std::thread waiter([&] { await(shared); });
  lock_when_waited_for(shared);
  shared.ready = true;
  const std::size_t held = told_so_far();
  pthread_cond_signal(&shared.condition);
  pthread_mutex_unlock(&shared.mutex);
  waiter.join();
  EXPECT_EQ(told_of(&shared.condition, start), "signal wait_over");
  EXPECT_EQ(told_of(&shared.mutex, held), "releasing acquired releasing");
  EXPECT_NE(told_since(start).find("waiting"), std::string::npos);
}

// The mutex is held again when the thread's clean-up handlers run.
TEST(InterposeWaits, CancelledCondition) {
  static Condition shared;
  shared = {};
  pthread_t thread = {};
  ASSERT_EQ(pthread_create(
                &thread, nullptr,
                [](void*) -> void* {
                  pthread_cleanup_push([](void*) { pthread_mutex_unlock(&shared.mutex); }, nullptr);
                  await(shared);
                  pthread_cleanup_pop(0);
                  return nullptr;
                },
                nullptr),
            0);
  lock_when_waited_for(shared);
  const std::size_t held = told_so_far();
  pthread_mutex_unlock(&shared.mutex);
  pthread_cancel(thread);
  pthread_join(thread, nullptr);
  EXPECT_EQ(told_of(&shared.mutex, held), "releasing acquired releasing");
}

TEST(InterposeWaits, TimedOut) {
  Condition shared;
  timespec time = {};
  pthread_mutex_lock(&shared.mutex);
  const std::size_t start = told_so_far();
  EXPECT_EQ(pthread_cond_timedwait(&shared.condition, &shared.mutex, &time), ETIMEDOUT);
  EXPECT_EQ(told_of(&shared.mutex, start), "releasing acquired");
  EXPECT_EQ(told_of(&shared.condition, start), "");
  time.tv_nsec = -1;
  const std::size_t before = told_so_far();
  EXPECT_EQ(pthread_cond_timedwait(&shared.condition, &shared.mutex, &time), EINVAL);
  EXPECT_EQ(told_of(&shared.mutex, before), "");
  pthread_mutex_unlock(&shared.mutex);
}

TEST(InterposeWaits, Barrier) {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 2);
  const std::size_t start = told_so_far();
  std::thread other([&] { pthread_barrier_wait(&barrier); });
  pthread_barrier_wait(&barrier);
  other.join();
  pthread_barrier_destroy(&barrier);
  EXPECT_EQ(told_of(&barrier, start), "arrive:2 arrive:2 leave leave");
}

TEST(InterposeWaits, Semaphore) {
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  const std::size_t start = told_so_far();
  EXPECT_EQ(sem_trywait(&semaphore), -1);
  EXPECT_EQ(errno, EAGAIN);
  sem_post(&semaphore);
  sem_post(&semaphore);
  EXPECT_EQ(sem_wait(&semaphore), 0);
  EXPECT_EQ(sem_wait(&semaphore), 0);
  sem_destroy(&semaphore);
  EXPECT_EQ(told_of(&semaphore, start), "posting:1 posting:1 passed:1 passed destroyed");
}

pthread_once_t inner;
pthread_once_t outer;

TEST(InterposeWaits, NestedOnce) {
  inner = outer = PTHREAD_ONCE_INIT;
  const std::size_t start = told_so_far();
  // Each asks and goes on: a call in last place would seem to come from the one before.
  static int done = 0;
  const auto ask = [] {
    pthread_once(&outer, [] {
      pthread_once(&inner, [] {});
      ++done;
    });
    ++done;
  };
  ask();
  ask();
  EXPECT_GE(done, 3);
  EXPECT_EQ(told_of(&inner, start), "signal wait_over");
  EXPECT_EQ(told_of(&outer, start), "signal wait_over wait_over");
}

TEST(InterposeWaits, OnceThatThrows) {
  std::once_flag flag;
  const std::size_t start = told_so_far();
  EXPECT_THROW(std::call_once(flag, [] { throw 1; }), int);
  EXPECT_EQ(told_of(&flag, start), "");
  std::call_once(flag, [] {});
  EXPECT_EQ(told_of(&flag, start), "signal wait_over");
}

}  // namespace
}  // namespace tomos::test
