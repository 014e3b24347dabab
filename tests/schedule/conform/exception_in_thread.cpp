// An exception that nobody catches, in a thread.
// EXPECT: SIGABRT always
#include <mutex>
#include <stdexcept>
#include <thread>

#include "check.h"

int main() {
  std::mutex mutex;
  std::thread([&] {
    std::lock_guard lock(mutex);
    throw std::logic_error("nobody catches this");
  }).join();
  return ok();
}
