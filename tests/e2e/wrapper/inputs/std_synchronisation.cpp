#include <barrier>
#include <chrono>
#include <latch>
#include <semaphore>
#include <thread>

int phases = 0;

int main() {
  using namespace std::chrono_literals;
  std::latch latch(3);
  latch.count_down();
  (void)latch.try_wait();
  std::thread other([&] { latch.count_down(); });
  other.join();
  latch.arrive_and_wait();
  latch.wait();

  std::barrier barrier(2, []() noexcept { ++phases; });
  auto token = barrier.arrive(2);
  barrier.wait(std::move(token));
  token = barrier.arrive();
  barrier.arrive_and_wait();
  barrier.wait(std::move(token));
  barrier.arrive_and_drop();
  barrier.arrive_and_wait();
  barrier.arrive_and_wait();

  std::counting_semaphore<4> semaphore(1);
  semaphore.acquire();
  (void)semaphore.try_acquire();
  (void)semaphore.try_acquire_for(1ms);
  semaphore.release();
  (void)semaphore.try_acquire_until(std::chrono::steady_clock::now() + 1s);
  std::binary_semaphore binary(0);
  binary.release();
  binary.acquire();
  return phases == 4 ? 0 : 1;
}
