// Thread-specific data: each thread sees its own, destructors run at the end and may lock.
#include <pthread.h>

#include "check.h"

static pthread_key_t key;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int destroyed;

static void destroy(void *value) {
  pthread_mutex_lock(&mutex);
  destroyed += *(int *)value;
  pthread_mutex_unlock(&mutex);
  free(value);
}

static void *work(void *number) {
  int *mine = malloc(sizeof *mine);
  *mine = *(int *)number;
  CHECK(pthread_getspecific(key) == NULL);
  pthread_setspecific(key, mine);
  pthread_mutex_lock(&mutex);
  CHECK(*(int *)pthread_getspecific(key) == *mine);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(void) {
  CHECK(pthread_key_create(&key, destroy) == 0);
  pthread_t threads[3];
  int numbers[3] = {1, 10, 100};
  for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, work, &numbers[i]) == 0);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  CHECK(destroyed == 111);
  pthread_key_delete(key);
  return ok();
}
