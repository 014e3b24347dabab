// A normal mutex that another thread than its locker unlocks, which glibc allows: a baton.
#include <pthread.h>

#include "check.h"

static pthread_mutex_t baton[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int turns;

static void *second(void *unused) {
  (void)unused;
  for (int i = 0; i < 5; i++) {
    pthread_mutex_lock(&baton[1]);
    CHECK(turns == 2 * i + 1);
    turns++;
    pthread_mutex_unlock(&baton[0]);
  }
  return NULL;
}

int main(void) {
  pthread_mutex_lock(&baton[1]);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, second, NULL) == 0);
  for (int i = 0; i < 5; i++) {
    pthread_mutex_lock(&baton[0]);
    CHECK(turns == 2 * i);
    turns++;
    pthread_mutex_unlock(&baton[1]);
  }
  pthread_join(thread, NULL);
  CHECK(turns == 10);
  return ok();
}
