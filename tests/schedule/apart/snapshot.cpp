// A reader adds up counters, each under its own lock, while a writer moves one from counter to
// counter.
#include <array>
#include <mutex>

#include "../suite/threads.h"

struct Counter {
  std::mutex mutex;
  int value = 1;
};

static std::array<Counter, 4> counters;

static void move(int from, int to) {
  std::scoped_lock both(counters[from].mutex, counters[to].mutex);
  counters[from].value--;
  counters[to].value++;
}

static void add_up() {
  int sum = 0;
#ifdef FIXED
  std::scoped_lock all(counters[0].mutex, counters[1].mutex, counters[2].mutex, counters[3].mutex);
  for (Counter& counter : counters) sum += counter.value;
#else
  for (Counter& counter : counters) {
    std::lock_guard lock(counter.mutex);
    sum += counter.value;
  }
#endif
  assert(sum == 4);
}

int main() {
  return run({[] { move(0, 2); }, [] { move(1, 3); }, add_up});
}
