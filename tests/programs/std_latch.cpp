// Workers add to a total and count down; another thread waits for that, and reads the total.
// FLAGS: -std=c++20
// FINDS: label=add variable=total at=add
#include <latch>
#include <mutex>

#include "threads.h"

std::latch finished(2);
std::mutex mutex;
int total;

void add(int amount) {
#ifndef BAD
  std::lock_guard lock(mutex);
#endif
  total += amount;  // @add
}

static void work() {
  add(5);
  finished.count_down();
}

int read_total() {
  finished.wait();
#ifndef BAD
  std::lock_guard lock(mutex);
#endif
  return total;
}

int main() {
  in_threads({work, work, [] { keep(read_total()); }});
}
