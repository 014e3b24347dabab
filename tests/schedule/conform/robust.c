// A robust mutex whose holder ends: the next gets it with EOWNERDEAD and makes it good.
#include <errno.h>
#include <pthread.h>

#include "check.h"

static pthread_mutex_t mutex;
static int found_dead, count;

static void *die_with_it(void *unused) {
  (void)unused;
  const int status = pthread_mutex_lock(&mutex);
  if (status == EOWNERDEAD) {
    found_dead++;
    pthread_mutex_consistent(&mutex);
  } else {
    CHECK(status == 0);
  }
  count++;
  return NULL;
}

int main(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &attributes);
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, die_with_it, NULL) == 0);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  CHECK(pthread_mutex_lock(&mutex) == EOWNERDEAD);
  CHECK(pthread_mutex_consistent(&mutex) == 0);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  CHECK(pthread_mutex_trylock(&mutex) == 0);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  CHECK(count == 3 && found_dead == 2);
  return ok();
}
