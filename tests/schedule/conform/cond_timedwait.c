// pthread_cond_timedwait and _clockwait: time out when nobody signals, and not always when somebody
// does.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER, never = PTHREAD_COND_INITIALIZER;
static int turn;

static struct timespec in(clockid_t clock, int seconds) {
  struct timespec time;
  clock_gettime(clock, &time);
  time.tv_sec += seconds;
  return time;
}

static void take_turns(int mine, clockid_t clock) {
  for (int i = 0; i < 5; i++) {
    pthread_mutex_lock(&mutex);
    int timeouts = 0;
    while (turn % 2 != mine) {
      const struct timespec limit = in(clock, 60);
      const int status = clock == CLOCK_REALTIME
                             ? pthread_cond_timedwait(&changed, &mutex, &limit)
                             : pthread_cond_clockwait(&changed, &mutex, clock, &limit);
      CHECK(status == 0 || (status == ETIMEDOUT && ++timeouts < 100));
    }
    turn++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
  }
}

static void *second(void *unused) {
  take_turns(1, CLOCK_MONOTONIC);
  return unused;
}

int main(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, second, NULL) == 0);
  take_turns(0, CLOCK_REALTIME);
  pthread_join(thread, NULL);
  CHECK(turn == 10);
  pthread_mutex_lock(&mutex);
  struct timespec past = in(CLOCK_REALTIME, -1);
  CHECK(pthread_cond_timedwait(&never, &mutex, &past) == ETIMEDOUT);
  struct timespec soon = in(CLOCK_MONOTONIC, 0);
  soon.tv_nsec = soon.tv_nsec > 900000000 ? 999999999 : soon.tv_nsec + 5000000;
  CHECK(pthread_cond_clockwait(&never, &mutex, CLOCK_MONOTONIC, &soon) == ETIMEDOUT);
  struct timespec now = in(CLOCK_MONOTONIC, 0);
  CHECK(now.tv_sec > soon.tv_sec || (now.tv_sec == soon.tv_sec && now.tv_nsec >= soon.tv_nsec));
  pthread_mutex_unlock(&mutex);
  return ok();
}
