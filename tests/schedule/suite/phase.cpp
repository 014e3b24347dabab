// Two phases with a lock between: the second thread takes over only if it comes in the gap, and
// then leaves the locks the other way round.
#include <mutex>

#include "threads.h"

static std::mutex x, y;
static int phase;

static void first() {
  x.lock();
  phase = 1;
  x.unlock();
  x.lock();
  y.lock();
  phase = 2;
  y.unlock();
  x.unlock();
}

static void second() {
  x.lock();
  const bool in_gap = phase == 1;
  x.unlock();
#ifdef FIXED
  std::scoped_lock both(x, y);
#else
  if (!in_gap) return;
  std::lock_guard lock_y(y);
  std::lock_guard lock_x(x);
#endif
  phase = in_gap ? 3 : phase;
}

int main() { return run({first, second}); }
