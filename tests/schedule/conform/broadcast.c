// pthread_cond_broadcast wakes all who wait; a condition variable is destroyed right after it.
#include <pthread.h>

#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go = PTHREAD_COND_INITIALIZER, here = PTHREAD_COND_INITIALIZER;
static int waiting, started, woken;

static void *wait_for_it(void *unused) {
  (void)unused;
  pthread_mutex_lock(&mutex);
  waiting++;
  pthread_cond_signal(&here);
  while (!started) pthread_cond_wait(&go, &mutex);
  woken++;
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, wait_for_it, NULL) == 0);
  pthread_mutex_lock(&mutex);
  while (waiting < 4) pthread_cond_wait(&here, &mutex);
  CHECK(woken == 0);
  started = 1;
  pthread_cond_broadcast(&go);
  pthread_mutex_unlock(&mutex);
  pthread_cond_destroy(&go);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  CHECK(woken == 4);
  return ok();
}
