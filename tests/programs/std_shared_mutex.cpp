// Looking with a shared lock and changing with an exclusive one.
// FINDS: label=Settings::raise variable=settings.limit_ at=look,raise
#include <mutex>
#include <shared_mutex>

#include "threads.h"

class Settings {
 public:
  int limit() {
    std::shared_lock lock(mutex_);
    return limit_;  // @look
  }

  void raise() {
#ifdef BAD
    const int old = limit();
    std::unique_lock lock(mutex_);
#else
    std::unique_lock lock(mutex_);
    const int old = limit_;
#endif
    limit_ = old + 1;  // @raise
  }

 private:
  std::shared_mutex mutex_;
  int limit_ = 0;
};

Settings settings;

static void work() {
  settings.raise();
  settings.limit();
}

int main() { in_threads({work, work}); }
