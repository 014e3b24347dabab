/* Elements that are only ever named by numbers are apart; with one index that is no number they are
   one. */
#include <pthread.h>

enum { READY, DONE };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int apart[2] = {0, 0}, mixed[2];

static void ok_numbers(void) {
  pthread_mutex_lock(&m);
  const int ready = apart[READY];
  pthread_mutex_unlock(&m);
  if (!ready) return;
  pthread_mutex_lock(&m);
  apart[DONE] = ready;
  pthread_mutex_unlock(&m);
}

static void bad_index(int i) {
  pthread_mutex_lock(&m);
  const int n = mixed[READY];
  pthread_mutex_unlock(&m);
  pthread_mutex_lock(&m);
  mixed[i] = n + 1;
  pthread_mutex_unlock(&m);
}

static void *run(void *with) {
  ok_numbers();
  bad_index(*(int *)with);
  pthread_mutex_lock(&m);
  apart[READY] = 1;
  pthread_mutex_unlock(&m);
  return 0;
}

int main(void) {
  int n = 0;
  pthread_t one, two;
  pthread_create(&one, 0, run, &n);
  pthread_create(&two, 0, run, &n);
  pthread_join(one, 0);
  pthread_join(two, 0);
}
