// std::counting_semaphore and std::binary_semaphore.
#include <atomic>
#include <chrono>
#include <semaphore>
#include <thread>
#include <vector>

#include "check.h"

using namespace std::chrono_literals;

int main() {
  std::counting_semaphore<2> two(2);
  std::atomic<int> inside = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) {
    threads.emplace_back([&] {
      for (int n = 0; n < 3; n++) {
        two.acquire();
        CHECK(++inside <= 2);
        std::this_thread::yield();
        inside--;
        two.release();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  std::binary_semaphore ping(0), pong(0);
  std::thread other([&] {
    for (int i = 0; i < 5; i++) {
      ping.acquire();
      pong.release();
    }
  });
  for (int i = 0; i < 5; i++) {
    ping.release();
    pong.acquire();
  }
  other.join();
  CHECK(!pong.try_acquire());
  CHECK(!pong.try_acquire_for(5ms));
  return ok();
}
