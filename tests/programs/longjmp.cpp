// A jump leaves a transaction: what the thread does afterwards is no part of it. Nor does a jump
// inside a transaction end it.
// FINDS: label=retry variable=count at=look,add
#include <pthread.h>

#include <csetjmp>

#include "threads.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int count;
thread_local std::jmp_buf place;

__attribute__((noinline)) void look_and_jump() {
  pthread_mutex_lock(&mutex);
  const int seen = count;  // @look
  pthread_mutex_unlock(&mutex);
  std::longjmp(place, seen + 1);
}

void add() {
  pthread_mutex_lock(&mutex);
  count++;  // @add
  pthread_mutex_unlock(&mutex);
}

#ifndef BAD
static
#endif
    void
    retry() {
  if (setjmp(place) == 0) look_and_jump();
  add();
}

static void work() {
  for (int i = 0; i < 3; i++) retry();
}

int main() { in_threads({work, work}); }
