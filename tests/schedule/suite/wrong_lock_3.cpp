// One thread guards the counter by its lock, three by another.
#include <mutex>

#include "threads.h"

static std::mutex right;
[[maybe_unused]] static std::mutex wrong;
static std::mutex log_lock;
static volatile int count, logged;

static void log() {
  std::lock_guard lock(log_lock);
  logged = logged + 1;
}

static void hold_still() {
  std::lock_guard lock(right);
  const int before = count;
  log();
  assert(count == before);
}

static void change() {
#ifdef FIXED
  std::lock_guard lock(right);
#else
  std::lock_guard lock(wrong);
#endif
  count = count + 1;
}

int main() { return run({hold_still, change, change, change}); }
