// Recursive mutexes: taken again by their holder, tried by others, released by the last unlock.
#include <mutex>
#include <thread>

#include "check.h"

static std::recursive_mutex mutex;
static int depth, most;

static void enter(int n) {
  std::lock_guard lock(mutex);
  depth++;
  if (depth > most) most = depth;
  if (n > 1) enter(n - 1);
  CHECK(mutex.try_lock());
  mutex.unlock();
  depth--;
}

int main() {
  {
    std::unique_lock twice(mutex);
    enter(3);
    std::thread([] { CHECK(!mutex.try_lock()); }).join();
  }
  std::thread a([] { enter(4); });
  std::thread b([] { enter(5); });
  a.join();
  b.join();
  CHECK(depth == 0 && most == 5);
  return ok();
}
