// Threads with the smallest stack that is allowed.
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

static void *play(void *number) {
  pthread_mutex_lock(&mutex);
  while (turn != *(int *)number) pthread_cond_wait(&changed, &mutex);
  turn++;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  CHECK(pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN)) == 0);
  pthread_t threads[3];
  int numbers[3] = {2, 1, 0};
  for (int i = 0; i < 3; i++) {
    CHECK(pthread_create(&threads[i], &attributes, play, &numbers[i]) == 0);
  }
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  CHECK(turn == 3);
  return ok();
}
