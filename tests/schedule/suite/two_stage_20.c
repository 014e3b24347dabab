// The same among twenty threads that write and one that reads, in C.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { kWriters = 20 };
static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second_lock = PTHREAD_MUTEX_INITIALIZER;
static int first, second;

static void *write_both(void *unused) {
  pthread_mutex_lock(&first_lock);
  first = 1;
  pthread_mutex_unlock(&first_lock);
  pthread_mutex_lock(&second_lock);
  second = 2;
  pthread_mutex_unlock(&second_lock);
  return unused;
}

static void *read_both(void *unused) {
  pthread_mutex_lock(&first_lock);
  const int seen = first;
  pthread_mutex_unlock(&first_lock);
  if (seen == 0) return unused;
  pthread_mutex_lock(&second_lock);
  assert(second == 2);
  pthread_mutex_unlock(&second_lock);
  return unused;
}

int main(void) {
  pthread_t threads[kWriters + 1];
  for (int i = 0; i < kWriters; i++) pthread_create(&threads[i], NULL, write_both, NULL);
  pthread_create(&threads[kWriters], NULL, read_both, NULL);
  for (int i = 0; i <= kWriters; i++) pthread_join(threads[i], NULL);
  puts("ok");
}
