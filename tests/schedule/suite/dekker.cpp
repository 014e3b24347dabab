// Mutual exclusion by flags, where the second thread looks before it says that it wants to enter.
#include <atomic>

#include "threads.h"

static std::atomic<bool> wants[2];
static std::atomic<int> turn = 0, inside = 0;

static void enter(int me) {
#ifdef FIXED
  wants[me] = true;
#endif
  while (wants[1 - me]) {
    if (turn != me) {
      wants[me] = false;
      while (turn != me) std::this_thread::yield();
#ifdef FIXED
      wants[me] = true;
#endif
    }
    std::this_thread::yield();
  }
  wants[me] = true;
}

static void work(int me) {
  for (int i = 0; i < 2; i++) {
    enter(me);
    assert(++inside == 1);
    inside--;
    turn = 1 - me;
    wants[me] = false;
  }
  turn = 1 - me;
}

int main() {
  return run({[] { work(0); }, [] { work(1); }});
}
