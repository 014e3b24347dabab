// cv.wait_for with a limit far beyond what the work takes: a program may count on it not to pass
// while the one who notifies can run.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "check.h"

using namespace std::chrono_literals;

int main() {
  std::mutex mutex;
  std::condition_variable changed;
  int asked = 0, answered = 0;
  std::thread server([&] {
    for (int i = 1; i <= 5; i++) {
      std::unique_lock lock(mutex);
      CHECK(changed.wait_for(lock, 1h, [&] { return asked == i; }));
      answered = i;
      changed.notify_all();
    }
  });
  for (int i = 1; i <= 5; i++) {
    std::unique_lock lock(mutex);
    asked = i;
    changed.notify_all();
    CHECK(changed.wait_until(lock, std::chrono::system_clock::now() + 1h,
                             [&] { return answered == i; }));
  }
  server.join();
  std::unique_lock lock(mutex);
  const auto before = std::chrono::steady_clock::now();
  CHECK(!changed.wait_for(lock, 5ms, [] { return false; }));
  CHECK(std::chrono::steady_clock::now() - before >= 5ms);
  return ok();
}
