// A stack in C: the flag that it is not empty and the index are read at different times.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { kSize = 5 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int values[kSize], top, flag;

static void *push(void *unused) {
  for (int i = 0; i < kSize; i++) {
    pthread_mutex_lock(&lock);
    values[top++] = i;
    flag = 1;
    pthread_mutex_unlock(&lock);
  }
  return unused;
}

static void *pop(void *unused) {
  for (int i = 0; i < kSize; i++) {
    pthread_mutex_lock(&lock);
    const int there = flag;
    pthread_mutex_unlock(&lock);
    if (!there) continue;
    pthread_mutex_lock(&lock);
    assert(top > 0);
    top--;
    pthread_mutex_unlock(&lock);
  }
  return unused;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, push, NULL);
  pthread_create(&threads[1], NULL, pop, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  puts("ok");
}
