// A driver that is stopped while a request comes in: the request sees that it is not stopping, then
// the stop completes, then the request uses what is gone.
#include <condition_variable>
#include <mutex>

#include "threads.h"

static std::mutex mutex;
static std::condition_variable idle;
static int pending = 1;  // the driver itself counts
static bool stopping, stopped;

static void leave() {
  std::lock_guard lock(mutex);
  if (--pending == 0) idle.notify_all();
}

static bool enter() {
#ifdef FIXED
  std::lock_guard lock(mutex);
  if (stopping) return false;
  pending++;
  return true;
#else
  {
    std::lock_guard lock(mutex);
    if (stopping) return false;
  }
  std::lock_guard lock(mutex);
  pending++;
  return true;
#endif
}

static void request() {
  if (!enter()) return;
  {
    std::lock_guard lock(mutex);
    assert(!stopped);
  }
  leave();
}

static void stop() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  leave();
  std::unique_lock lock(mutex);
  idle.wait(lock, [] { return pending <= 0; });
  stopped = true;
}

int main() { return run({request, stop}); }
