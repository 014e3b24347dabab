// A datum in two parts, each under a lock of its own; who reads both can see one without the other.
#include <mutex>

#include "threads.h"

static std::mutex first_lock, second_lock;
static int first, second;

static void set() {
#ifdef FIXED
  std::scoped_lock both(first_lock, second_lock);
  first = 1;
  second = first + 1;
#else
  {
    std::lock_guard lock(first_lock);
    first = 1;
  }
  std::lock_guard lock(second_lock);
  second = first + 1;
#endif
}

static void check() {
#ifdef FIXED
  std::scoped_lock both(first_lock, second_lock);
  assert(first == 0 || second == first + 1);
#else
  int seen = 0;
  {
    std::lock_guard lock(first_lock);
    if (first == 0) return;
    seen = first;
  }
  std::lock_guard lock(second_lock);
  assert(second == seen + 1);
#endif
}

int main() { return run({set, check}); }
