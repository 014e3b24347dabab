// pthread_create, join with a result, tryjoin, timedjoin, exit, detach, self, equal.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "check.h"

static sem_t may_end, detached_ended;
static pthread_t told;

static void *with_result(void *argument) {
  told = pthread_self();
  sem_wait(&may_end);
  pthread_exit((char *)argument + 1);
}

static void *detached(void *argument) {
  (void)argument;
  sem_post(&detached_ended);
  return NULL;
}

static void *nested(void *depth) {
  if (*(int *)depth > 0) {
    int less = *(int *)depth - 1;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, nested, &less) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
  }
  return depth;
}

int main(void) {
  sem_init(&may_end, 0, 0);
  sem_init(&detached_ended, 0, 0);
  pthread_t thread;
  void *result = NULL;
  char bytes[2];
  CHECK(pthread_create(&thread, NULL, with_result, bytes) == 0);
  CHECK(pthread_tryjoin_np(thread, &result) == EBUSY);
  struct timespec soon;
  clock_gettime(CLOCK_REALTIME, &soon);
  CHECK(pthread_timedjoin_np(thread, &result, &soon) == ETIMEDOUT);
  sem_post(&may_end);
  CHECK(pthread_join(thread, &result) == 0);
  CHECK(result == bytes + 1 && pthread_equal(told, thread));
  CHECK(!pthread_equal(pthread_self(), thread));

  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  CHECK(pthread_create(&thread, &attributes, detached, NULL) == 0);
  CHECK(pthread_create(&thread, NULL, detached, NULL) == 0);
  CHECK(pthread_detach(thread) == 0);
  sem_wait(&detached_ended);
  sem_wait(&detached_ended);

  int depth = 5;
  CHECK(pthread_create(&thread, NULL, nested, &depth) == 0);
  CHECK(pthread_join(thread, &result) == 0 && result == &depth);
  return ok();
}
