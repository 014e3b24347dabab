// A ring where reader and writer do not agree who may go: full and empty are told from a count that
// is brought up to date in a critical section of its own.
#include <array>
#include <mutex>

#include "threads.h"

static std::mutex mutex;
static std::array<int, 3> ring;
static int head, tail, count;

static void put(int item) {
  {
    std::lock_guard lock(mutex);
    if (count == 3) return;
    ring[head] = item;
    head = (head + 1) % 3;
#ifdef FIXED
    count++;
#endif
  }
#ifndef FIXED
  std::lock_guard lock(mutex);
  count++;
  assert(count <= 3);
#endif
}

static void take() {
  std::lock_guard lock(mutex);
  if (count == 0) return;
  tail = (tail + 1) % 3;
  count--;
}

int main() {
  const auto writer = [] {
    for (int i = 1; i <= 3; i++) put(i);
  };
  return run({writer, writer, [] {
                take();
                take();
              }});
}
