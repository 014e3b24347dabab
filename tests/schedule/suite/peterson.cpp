// Peterson's algorithm with its two stores in the wrong order.
#include <atomic>

#include "threads.h"

static std::atomic<bool> wants[2];
static std::atomic<int> victim = 0, inside = 0;

static void work(int me) {
#ifdef FIXED
  wants[me] = true;
  victim = me;
#else
  victim = me;
  wants[me] = true;
#endif
  while (wants[1 - me] && victim == me) std::this_thread::yield();
  assert(++inside == 1);
  inside--;
  wants[me] = false;
}

int main() {
  return run({[] { work(0); }, [] { work(1); }});
}
