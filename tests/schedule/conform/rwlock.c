// Reader-writer locks: readers together, writers alone, tries and time-outs.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "check.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t inside;
static int value, twice;

static void *read_it(void *unused) {
  (void)unused;
  pthread_rwlock_rdlock(&lock);
  pthread_barrier_wait(&inside);  // both readers are in
  CHECK(pthread_rwlock_trywrlock(&lock) == EBUSY);
  struct timespec soon;
  clock_gettime(CLOCK_MONOTONIC, &soon);
  CHECK(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &soon) != 0);
  pthread_rwlock_unlock(&lock);
  for (int i = 0; i < 5; i++) {
    pthread_rwlock_rdlock(&lock);
    CHECK(twice == 2 * value);
    sched_yield();
    CHECK(twice == 2 * value);
    pthread_rwlock_unlock(&lock);
  }
  return NULL;
}

static void *write_it(void *unused) {
  (void)unused;
  for (int i = 0; i < 5; i++) {
    pthread_rwlock_wrlock(&lock);
    value++;
    CHECK(pthread_rwlock_tryrdlock(&lock) == EBUSY || pthread_rwlock_tryrdlock(&lock) == EDEADLK);
    sched_yield();
    twice += 2;
    pthread_rwlock_unlock(&lock);
  }
  return NULL;
}

int main(void) {
  pthread_barrier_init(&inside, NULL, 2);
  pthread_t threads[4];
  for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, read_it, NULL) == 0);
  for (int i = 2; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, write_it, NULL) == 0);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  CHECK(value == 10 && twice == 20);
  return ok();
}
