// pthread_mutex_timedlock and _clocklock: give up on a mutex that stays taken, get one that is
// freed.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "check.h"

static pthread_mutex_t kept = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static int count;

static struct timespec in(clockid_t clock, int seconds, long nanoseconds) {
  struct timespec time;
  clock_gettime(clock, &time);
  time.tv_sec += seconds;
  time.tv_nsec += nanoseconds;
  if (time.tv_nsec >= 1000000000) {
    time.tv_nsec -= 1000000000;
    time.tv_sec++;
  }
  return time;
}

static void *work(void *unused) {
  (void)unused;
  struct timespec soon = in(CLOCK_REALTIME, 0, 5000000);
  CHECK(pthread_mutex_timedlock(&kept, &soon) == ETIMEDOUT);
  soon = in(CLOCK_MONOTONIC, 0, 5000000);
  CHECK(pthread_mutex_clocklock(&kept, CLOCK_MONOTONIC, &soon) == ETIMEDOUT);
  for (int i = 0; i < 5; i++) {
    struct timespec late = in(CLOCK_REALTIME, 60, 0);
    int tries = 0;
    while (pthread_mutex_timedlock(&shared, &late) == ETIMEDOUT) {
      CHECK(++tries < 100);
      late = in(CLOCK_REALTIME, 60, 0);
    }
    count++;
    pthread_mutex_unlock(&shared);
  }
  return NULL;
}

int main(void) {
  pthread_mutex_lock(&kept);
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  CHECK(count == 15);
  pthread_mutex_unlock(&kept);
  return ok();
}
