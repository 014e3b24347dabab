// Two variables set one after the other by 2 threads, without a lock; one thread checks both.
#include <atomic>
#include <mutex>

#include "threads.h"

static std::atomic<int> a = 0, b = 0;
[[maybe_unused]] static std::mutex mutex;

static void set() {
#ifdef FIXED
  std::lock_guard lock(mutex);
#endif
  a = 1;
  b = -1;
}

static void check() {
#ifdef FIXED
  std::lock_guard lock(mutex);
#endif
  const int seen_a = a, seen_b = b;
  assert((seen_a == 0 && seen_b == 0) || (seen_a == 1 && seen_b == -1));
}

int main() { return run({set, set, check}); }
