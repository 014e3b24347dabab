// Cancellation in pthread_cond_wait: the handler runs with the mutex taken. Disabled: later.
#include <pthread.h>
#include <semaphore.h>

#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t ready, go;
static int guarded, passed;

static void unlock(void *unused) {
  (void)unused;
  guarded++;
  pthread_mutex_unlock(&mutex);
}

static void *waiter(void *unused) {
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(unlock, NULL);
  sem_post(&ready);
  for (;;) pthread_cond_wait(&never, &mutex);
  pthread_cleanup_pop(1);
  return unused;
}

static void *shielded(void *unused) {
  int old;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
  sem_post(&ready);
  sem_wait(&go);
  passed = 1;
  pthread_setcancelstate(old, &old);
  pthread_testcancel();
  passed = 2;
  return unused;
}

int main(void) {
  sem_init(&ready, 0, 0);
  sem_init(&go, 0, 0);
  pthread_t thread;
  void *result = NULL;
  CHECK(pthread_create(&thread, NULL, waiter, NULL) == 0);
  sem_wait(&ready);
  CHECK(pthread_cancel(thread) == 0);
  CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
  CHECK(guarded == 1 && pthread_mutex_trylock(&mutex) == 0);

  CHECK(pthread_create(&thread, NULL, shielded, NULL) == 0);
  sem_wait(&ready);
  CHECK(pthread_cancel(thread) == 0);
  sem_post(&go);
  CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
  CHECK(passed == 1);
  return ok();
}
