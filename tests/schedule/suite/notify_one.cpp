// Producers and consumers wait on one condition variable and notify one: the wrong one may wake.
#include <condition_variable>
#include <mutex>

#include "threads.h"

static std::mutex mutex;
static std::condition_variable changed;
static int items;

static void tell() {
#ifdef FIXED
  changed.notify_all();
#else
  changed.notify_one();
#endif
}

static void put() {
  for (int i = 0; i < 2; i++) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [] { return items < 1; });
    items++;
    tell();
  }
}

static void take() {
  for (int i = 0; i < 2; i++) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [] { return items > 0; });
    items--;
    tell();
  }
}

int main() { return run({put, put, take, take}); }
