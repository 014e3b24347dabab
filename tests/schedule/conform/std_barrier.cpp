// std::barrier with a completion, arrive_and_drop, and std::latch.
#include <atomic>
#include <barrier>
#include <latch>
#include <thread>
#include <vector>

#include "check.h"

int main() {
  int phases = 0;
  std::atomic<int> arrived = 0;
  std::barrier barrier(3, [&]() noexcept { phases++; });
  std::latch done(3), go(1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) {
    threads.emplace_back([&, i] {
      go.wait();
      for (int round = 1; round <= 4; round++) {
        arrived++;
        barrier.arrive_and_wait();
        CHECK(phases == 2 * round - 1);
        CHECK(arrived == 3 * round);
        barrier.arrive_and_wait();
      }
      if (i == 0) {
        barrier.arrive_and_drop();
      } else {
        barrier.wait(barrier.arrive());
      }
      done.count_down();
    });
  }
  CHECK(phases == 0 && !done.try_wait());
  go.count_down();
  done.wait();
  CHECK(phases == 9);
  for (auto& thread : threads) thread.join();
  return ok();
}
