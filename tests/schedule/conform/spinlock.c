// pthread spin locks.
#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "check.h"

static pthread_spinlock_t spin;
static int count;

static void *work(void *unused) {
  (void)unused;
  for (int i = 0; i < 10; i++) {
    pthread_spin_lock(&spin);
    const int seen = count;
    sched_yield();
    CHECK(pthread_spin_trylock(&spin) == EBUSY);
    count = seen + 1;
    pthread_spin_unlock(&spin);
  }
  return NULL;
}

int main(void) {
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  CHECK(count == 30);
  CHECK(pthread_spin_trylock(&spin) == 0);
  pthread_spin_unlock(&spin);
  pthread_spin_destroy(&spin);
  return ok();
}
