// A thread_local destructor that locks, and std::notify_all_at_thread_exit.
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "check.h"

static std::mutex mutex;
static std::condition_variable ended;
static int living, counted;

struct Registered {
  Registered() {
    std::lock_guard lock(mutex);
    living++;
  }
  ~Registered() {
    std::lock_guard lock(mutex);
    living--;
    counted++;
  }
  int uses = 0;
};

static thread_local Registered registered;

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) {
    threads.emplace_back([] {
      registered.uses++;
      std::lock_guard lock(mutex);
      CHECK(living > 0);
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(living == 0 && counted == 3);
  bool gone = false;
  std::thread last([&] {
    std::unique_lock lock(mutex);
    gone = true;
    std::notify_all_at_thread_exit(ended, std::move(lock));
  });
  {
    std::unique_lock lock(mutex);
    ended.wait(lock, [&] { return gone; });
  }
  last.join();
  CHECK(living == 0 && counted == 3);
  return ok();
}
