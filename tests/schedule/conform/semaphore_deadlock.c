// A semaphore as a lock that one path forgets to give back.
// EXPECT: deadlock sometimes
#include <pthread.h>
#include <semaphore.h>

#include "check.h"

static sem_t lock;
static int value;

static void *add(void *unused) {
  sem_wait(&lock);
  value++;
  sem_post(&lock);
  return unused;
}

static void *clear(void *unused) {
  sem_wait(&lock);
  if (value == 0) return unused;  // nothing to do
  value = 0;
  sem_post(&lock);
  return unused;
}

int main(void) {
  sem_init(&lock, 0, 1);
  pthread_t threads[2];
  CHECK(pthread_create(&threads[0], NULL, add, NULL) == 0);
  CHECK(pthread_create(&threads[1], NULL, clear, NULL) == 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return ok();
}
