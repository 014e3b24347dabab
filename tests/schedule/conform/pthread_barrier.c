// pthread_barrier_wait: nobody passes before all are there; one of each round is told so.
#include <pthread.h>

#include "check.h"

enum { kThreads = 3, kRounds = 5 };
static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int arrived, serial;

static void *work(void *unused) {
  (void)unused;
  for (int round = 1; round <= kRounds; round++) {
    pthread_mutex_lock(&mutex);
    arrived++;
    pthread_mutex_unlock(&mutex);
    const int status = pthread_barrier_wait(&barrier);
    CHECK(status == 0 || status == PTHREAD_BARRIER_SERIAL_THREAD);
    pthread_mutex_lock(&mutex);
    if (status != 0) serial++;
    CHECK(arrived == round * kThreads);
    pthread_mutex_unlock(&mutex);
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

int main(void) {
  pthread_barrier_init(&barrier, NULL, kThreads);
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; i++) CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  CHECK(serial == kRounds);
  CHECK(pthread_barrier_destroy(&barrier) == 0);
  return ok();
}
