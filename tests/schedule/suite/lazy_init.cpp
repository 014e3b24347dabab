// Checks under the lock whether the object is there, makes it under the lock: but lets go in
// between.
#include <memory>
#include <mutex>

#include "threads.h"

static std::mutex mutex;
static std::shared_ptr<int> cache;
static int made;

static bool is_there() {
  std::lock_guard lock(mutex);
  return cache != nullptr;
}

static void make() {
  std::lock_guard lock(mutex);
#ifdef FIXED
  if (cache) return;
#endif
  cache = std::make_shared<int>(42);
  made++;
}

static void use() {
  if (!is_there()) make();
}

int main() {
  return run({use, use}, [] { assert(made == 1); });
}
