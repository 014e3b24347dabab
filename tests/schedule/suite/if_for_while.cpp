// A bounded buffer whose consumers test with `if` what they must test with `while`.
#include <condition_variable>
#include <mutex>

#include "threads.h"

static std::mutex mutex;
static std::condition_variable not_empty, not_full;
static int items;

static void put() {
  std::unique_lock lock(mutex);
  while (items == 1) not_full.wait(lock);
  items++;
  not_empty.notify_one();
}

static void take() {
  std::unique_lock lock(mutex);
#ifdef FIXED
  while (items == 0) not_empty.wait(lock);
#else
  if (items == 0) not_empty.wait(lock);
#endif
  assert(items > 0);
  items--;
  not_full.notify_one();
}

int main() {
  return run({[] {
                put();
                put();
              },
              take, take});
}
