// tomos model --from-cpp examples/drivers/double_checked.cpp                 it is made when used
// tomos model --from-cpp examples/drivers/double_checked.cpp -- -DBROKEN     not always
//
// Double-checked locking. Broken: the object is published before it is made.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::atomic<bool> published;
static std::atomic<bool> made;

static void use() {
  if (!published) {
    const std::lock_guard lock(mutex);
    if (!published) {
#ifdef BROKEN
      published = true;
      made = true;
#else
      made = true;
      published = true;
#endif
    }
  }
  assert(made);
}

int main() {
  std::thread threads[3];
  for (std::thread& thread : threads) thread = std::thread(use);
  for (std::thread& thread : threads) thread.join();
}
