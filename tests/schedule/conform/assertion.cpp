// Fails only when the second thread comes between two critical sections of the first.
// EXPECT: SIGABRT sometimes
#include <cassert>
#include <mutex>
#include <thread>

#include "check.h"

int main() {
  std::mutex mutex;
  int value = 0;
  std::thread one([&] {
    int seen = 0;
    {
      std::lock_guard lock(mutex);
      seen = value;
    }
    std::lock_guard lock(mutex);
    assert(value == seen);
  });
  std::thread two([&] {
    std::lock_guard lock(mutex);
    value++;
  });
  one.join();
  two.join();
  return ok();
}
