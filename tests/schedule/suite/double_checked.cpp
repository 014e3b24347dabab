// Double-checked initialisation whose flag is set before the object is complete.
#include <atomic>
#include <mutex>

#include "threads.h"

struct Config {
  std::atomic<int> size = 0;
};

static std::mutex mutex;
static std::atomic<Config*> instance = nullptr;

static Config& config() {
  if (Config* made = instance) return *made;
  std::lock_guard lock(mutex);
  if (Config* made = instance) return *made;
  auto* made = new Config;
#ifdef FIXED
  made->size = 8;
  instance = made;
#else
  instance = made;
  made->size = 8;
#endif
  return *made;
}

static void use() { assert(config().size == 8); }

int main() {
  return run({use, use, use}, [] { delete instance.load(); });
}
