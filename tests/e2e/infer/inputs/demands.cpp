// What the source demands to be atomic.
#include <pthread.h>
#include <tomos/tomos.h>

struct Counter {
  pthread_mutex_t m;
  int value;
};

static int get(Counter* counter) {
  pthread_mutex_lock(&counter->m);
  const int value = counter->value;
  pthread_mutex_unlock(&counter->m);
  return value;
}

static void set(Counter* counter, int value) {
  pthread_mutex_lock(&counter->m);
  counter->value = value;
  pthread_mutex_unlock(&counter->m);
}

/*# atomic */ void increment(Counter* counter) { set(counter, get(counter) + 1); }

void decrement(Counter* counter) {
  TOMOS_ATOMIC("decrement");
  set(counter, get(counter) - 1);
}

int double_if(Counter* counter, bool wanted) {
  if (wanted) /*# mover */ {
    set(counter, 2);
  }
  return 0;
}
