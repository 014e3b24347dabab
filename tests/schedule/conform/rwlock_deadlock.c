// A mutex and a reader-writer lock in both orders, one of them taken to read.
// EXPECT: deadlock sometimes
#include <pthread.h>

#include "check.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t upgrade = PTHREAD_MUTEX_INITIALIZER;
static int value;

static void *reader(void *unused) {
  pthread_rwlock_rdlock(&lock);
  pthread_mutex_lock(&upgrade);
  value++;
  pthread_mutex_unlock(&upgrade);
  pthread_rwlock_unlock(&lock);
  return unused;
}

static void *writer(void *unused) {
  pthread_mutex_lock(&upgrade);
  pthread_rwlock_wrlock(&lock);
  value++;
  pthread_rwlock_unlock(&lock);
  pthread_mutex_unlock(&upgrade);
  return unused;
}

int main(void) {
  pthread_t threads[2];
  CHECK(pthread_create(&threads[0], NULL, reader, NULL) == 0);
  CHECK(pthread_create(&threads[1], NULL, writer, NULL) == 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  CHECK(value == 2);
  return ok();
}
