// A sum that is built by three threads in turns; the one that ends it can be early.
#include <condition_variable>
#include <mutex>

#include "threads.h"

static std::mutex mutex;
static std::condition_variable ready;
static int next = 1, sum;
static bool done;

static void add() {
  for (int i = 0; i < 3; i++) {
    int term = 0;
    {
      std::lock_guard lock(mutex);
      term = next;
#ifdef FIXED
      next++;
#endif
    }
    std::lock_guard lock(mutex);
#ifndef FIXED
    next++;
#endif
    sum += term;
    if (next == 7) {
      done = true;
      ready.notify_all();
    }
  }
}

int main() {
  return run({add, add,
              [] {
                std::unique_lock lock(mutex);
                ready.wait(lock, [] { return done; });
              }},
             [] { assert(sum == 21); });
}
