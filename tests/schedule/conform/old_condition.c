// Condition variables as a program uses them that was linked long ago: by their first version.
#include <pthread.h>

#include "check.h"

#ifdef __x86_64__
__asm__(".symver pthread_cond_wait,pthread_cond_wait@GLIBC_2.2.5");
__asm__(".symver pthread_cond_signal,pthread_cond_signal@GLIBC_2.2.5");
__asm__(".symver pthread_cond_broadcast,pthread_cond_broadcast@GLIBC_2.2.5");
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER, ended = PTHREAD_COND_INITIALIZER;
static int turn, done;

static void *play(void *number) {
  const int mine = *(int *)number;
  for (int i = 0; i < 5; i++) {
    pthread_mutex_lock(&mutex);
    while (turn % 2 != mine) pthread_cond_wait(&changed, &mutex);
    turn++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
  }
  pthread_mutex_lock(&mutex);
  done++;
  pthread_cond_signal(&ended);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  int numbers[2] = {0, 1};
  for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, play, &numbers[i]) == 0);
  pthread_mutex_lock(&mutex);
  while (done < 2) pthread_cond_wait(&ended, &mutex);
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  CHECK(turn == 10);
  return ok();
}
