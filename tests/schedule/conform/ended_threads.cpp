// Threads that nobody joins give back their stacks and their memory when they end. Who gets them
// next is the same again in every run. REPEATABLE
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "check.h"

static std::mutex mutex;
static std::condition_variable changed;
static int left = 24;

struct Own {
  std::mutex mutex;
  char room[64];
};

static void work() {
  for (int i = 0; i < 6; i++) {
    std::vector<std::unique_ptr<Own>> owned;
    for (int n = 0; n < 3; n++) {
      owned.push_back(std::make_unique<Own>());
      std::lock_guard lock(owned.back()->mutex);
    }
  }
  std::mutex on_stack;
  on_stack.lock();
  on_stack.unlock();
  std::lock_guard lock(mutex);
  if (--left == 0) changed.notify_one();
}

int main() {
  for (int i = 0; i < 24; i++) std::thread(work).detach();
  std::unique_lock lock(mutex);
  changed.wait(lock, [] { return left == 0; });
  return ok();
}
