// Two neighbouring cells become the average of both. Without the barrier between reading and
// writing, one can read what the other has written already.
// FINDS: label=relax variable=cells at=average,store
#include <pthread.h>

#include "threads.h"

pthread_barrier_t barrier;
int cells[2] = {10, 20};

void relax(int mine, int other) {
  const int average = (cells[mine] + cells[other]) / 2;  // @average
#ifndef BAD
  pthread_barrier_wait(&barrier);
#endif
  cells[mine] = average;  // @store
}

static void work(int mine) {
  for (int round = 0; round < 3; round++) {
    relax(mine, 1 - mine);
    pthread_barrier_wait(&barrier);
  }
}

int main() {
  pthread_barrier_init(&barrier, nullptr, 2);
  in_threads({[] { work(0); }, [] { work(1); }});
  pthread_barrier_destroy(&barrier);
}
