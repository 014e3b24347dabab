// Spins by other means: try_lock, sem_trywait, an atomic_flag lock, and sleeping polls.
#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "check.h"

int main() {
  std::mutex mutex;
  std::atomic_flag flag;
  std::atomic<bool> done = false;
  sem_t posted;
  sem_init(&posted, 0, 0);
  int count = 0;
  const auto work = [&] {
    for (int i = 0; i < 3; i++) {
      while (!mutex.try_lock()) {
      }
      count++;
      mutex.unlock();
      while (flag.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
      count++;
      flag.clear(std::memory_order_release);
    }
    sem_post(&posted);
  };
  mutex.lock();
  std::thread a(work);
  mutex.unlock();
  while (sem_trywait(&posted) != 0) {
  }
  std::thread b([&] {
    while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  done = true;
  a.join();
  b.join();
  CHECK(count == 6);
  return ok();
}
