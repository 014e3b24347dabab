// std::mutex: what it guards is not lost.
#include <mutex>
#include <thread>
#include <vector>

#include "check.h"

int main() {
  std::mutex mutex;
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) {
    threads.emplace_back([&] {
      for (int n = 0; n < 10; n++) {
        std::lock_guard lock(mutex);
        const int seen = count;
        std::this_thread::yield();
        count = seen + 1;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(count == 40);
  return ok();
}
