// Two counters of users under one lock each; the first user of a kind takes a third lock for all,
// and the two kinds take the locks in different orders.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t resource = PTHREAD_MUTEX_INITIALIZER;
static int users, written;

static void *share(void *unused) {
  pthread_mutex_lock(&count_lock);
  if (++users == 1) pthread_mutex_lock(&resource);
  pthread_mutex_unlock(&count_lock);
  pthread_mutex_lock(&count_lock);
  if (--users == 0) pthread_mutex_unlock(&resource);
  pthread_mutex_unlock(&count_lock);
  return unused;
}

static void *own(void *unused) {
  pthread_mutex_lock(&resource);
  pthread_mutex_lock(&count_lock);
  written += users + 1;
  pthread_mutex_unlock(&count_lock);
  pthread_mutex_unlock(&resource);
  return unused;
}

int main(void) {
  void *(*bodies[])(void *) = {share, share, own, own};
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, bodies[i], NULL);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  puts("ok");
}
