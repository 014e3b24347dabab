// Functions that do nothing but take a lock, and give it back. What stands between them is the
// critical section, though the function around it waits and is no transaction.
// FINDS: variable=count at=look,add
#include <pthread.h>

#include "threads.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
int turn, count;

void take() { pthread_mutex_lock(&mutex); }
void give() { pthread_mutex_unlock(&mutex); }

void add() {
#ifndef BAD
  take();
#endif
  count++;
#ifndef BAD
  give();
#endif
}

void work() {
  take();
  while (turn < 0) pthread_cond_wait(&ready, &mutex);
  const int before = count;  // @look
  count = before + 1;        // @add
  turn++;
  give();
}

static void first() {
  work();
  work();
}
static void second() {
  add();
  work();
}

int main() { in_threads({first, second}); }
