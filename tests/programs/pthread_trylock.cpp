// A failed pthread_mutex_trylock or timedlock is no acquire, a successful one is.
// FINDS: label=add_if_room variable=count at=look,add
#include <pthread.h>
#include <sched.h>

#include <ctime>

#include "threads.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int count;

static void lock_by_trying() {
  while (pthread_mutex_trylock(&mutex) != 0) sched_yield();
}

static void lock_in_time() {
  timespec past = {};
  while (pthread_mutex_timedlock(&mutex, &past) != 0) sched_yield();
}

void add_if_room() {
  lock_by_trying();
  const bool room = count < 10;  // @look
#ifdef BAD
  pthread_mutex_unlock(&mutex);
  lock_in_time();
#endif
  if (room) count++;  // @add
  pthread_mutex_unlock(&mutex);
}

int add_again() {
  lock_in_time();
  const int before = count++;
  pthread_mutex_unlock(&mutex);
  return before;
}

static void work() {
  for (int i = 0; i < 4; i++) add_if_room();
  add_again();
}

int main() { in_threads({work, work}); }
