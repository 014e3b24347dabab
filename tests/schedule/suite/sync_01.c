// Two threads hand a number to and fro by two condition variables; the count is tested once only.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t empty = PTHREAD_COND_INITIALIZER, full = PTHREAD_COND_INITIALIZER;
static int count;

static void *produce(void *unused) {
  pthread_mutex_lock(&lock);
  if (count > 0) pthread_cond_wait(&empty, &lock);
  count++;
  pthread_mutex_unlock(&lock);
  pthread_cond_signal(&full);
  return unused;
}

static void *consume(void *unused) {
  pthread_mutex_lock(&lock);
  if (count == 0) pthread_cond_wait(&full, &lock);
  count--;
  assert(count >= 0);
  pthread_mutex_unlock(&lock);
  pthread_cond_signal(&empty);
  return unused;
}

int main(void) {
  void *(*bodies[])(void *) = {produce, produce, consume, consume};
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, bodies[i], NULL);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  assert(count == 0);
  puts("ok");
}
