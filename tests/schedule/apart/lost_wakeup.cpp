// A worker looks whether there is work and waits, in two steps: what is announced in between is
// lost.
#include <atomic>
#include <condition_variable>
#include <mutex>

#include "../suite/threads.h"

static std::mutex mutex;
static std::condition_variable more;
static std::atomic<int> waiting = 0;

static void work() {
  for (int done = 0; done < 2; done++) {
#ifdef FIXED
    std::unique_lock lock(mutex);
    more.wait(lock, [] { return waiting > 0; });
#else
    if (waiting == 0) {
      std::unique_lock lock(mutex);
      more.wait(lock);
    }
#endif
    waiting--;
  }
}

static void give() {
  for (int given = 0; given < 2; given++) {
    std::lock_guard lock(mutex);
    waiting++;
    more.notify_one();
  }
}

int main() { return run({work, give}); }
