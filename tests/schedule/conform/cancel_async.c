// Asynchronous cancellation of a thread that only computes; cancellation of one that has ended.
#include <pthread.h>
#include <semaphore.h>

#include "check.h"

static sem_t ready;

static void *compute(void *unused) {
  int old;
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
  sem_post(&ready);
  for (volatile unsigned i = 0;; i++) {
  }
  return unused;
}

static void *end(void *unused) {
  sem_post(&ready);
  return unused;
}

int main(void) {
  sem_init(&ready, 0, 0);
  pthread_t thread;
  void *result = NULL;
  CHECK(pthread_create(&thread, NULL, compute, NULL) == 0);
  sem_wait(&ready);
  CHECK(pthread_cancel(thread) == 0);
  CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
  CHECK(pthread_create(&thread, NULL, end, &ready) == 0);
  sem_wait(&ready);
  pthread_cancel(thread);
  CHECK(pthread_join(thread, &result) == 0);
  CHECK(result == &ready || result == PTHREAD_CANCELED);
  return ok();
}
