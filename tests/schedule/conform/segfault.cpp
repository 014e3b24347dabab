// A thread uses what another may have taken away.
// EXPECT: SIGSEGV sometimes
#include <memory>
#include <mutex>
#include <thread>

#include "check.h"

int main() {
  std::mutex mutex;
  auto value = std::make_unique<volatile int>(7);
  std::thread user([&] {
    std::lock_guard lock(mutex);
    CHECK(*value == 7);
  });
  std::thread taker([&] {
    std::lock_guard lock(mutex);
    value.reset();
  });
  user.join();
  taker.join();
  return ok();
}
