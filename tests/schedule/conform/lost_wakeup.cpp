// The flag is set without the mutex: the notification can fall between test and wait.
// EXPECT: deadlock sometimes
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "check.h"

int main() {
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> ready = false;
  std::thread waiter([&] {
    std::unique_lock lock(mutex);
    if (!ready) {
      std::this_thread::yield();
      changed.wait(lock);
    }
  });
  std::thread setter([&] {
    ready = true;
    changed.notify_one();
  });
  waiter.join();
  setter.join();
  return ok();
}
