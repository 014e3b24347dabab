// Two neighbouring cells become the average of both. Without the barrier between reading and
// writing, one can read what the other has written already.
// FLAGS: -std=c++20
// FINDS: label=relax variable=cells at=average,store
#include <barrier>

#include "threads.h"

std::barrier barrier(2);
int cells[2] = {10, 20};

void relax(int mine, int other) {
  const int average = (cells[mine] + cells[other]) / 2;  // @average
#ifndef BAD
  barrier.arrive_and_wait();
#endif
  cells[mine] = average;  // @store
}

static void work(int mine) {
  for (int round = 0; round < 3; round++) {
    relax(mine, 1 - mine);
    barrier.arrive_and_wait();
  }
}

int main() {
  in_threads({[] { work(0); }, [] { work(1); }});
}
