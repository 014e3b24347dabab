// std::timed_mutex and std::shared_timed_mutex: a try that lasts ends well when the mutex is freed.
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "check.h"

using namespace std::chrono_literals;

int main() {
  std::timed_mutex mutex;
  std::shared_timed_mutex shared;
  int count = 0;
  const auto work = [&] {
    for (int i = 0; i < 5; i++) {
      int tries = 0;
      while (!mutex.try_lock_for(60s)) CHECK(++tries < 100);
      count++;
      mutex.unlock();
      while (!shared.try_lock_shared_until(std::chrono::steady_clock::now() + 60s)) {
        CHECK(++tries < 100);
      }
      shared.unlock_shared();
      while (!shared.try_lock_until(std::chrono::system_clock::now() + 60s)) CHECK(++tries < 100);
      shared.unlock();
    }
  };
  std::thread a(work);
  std::thread b(work);
  a.join();
  b.join();
  CHECK(count == 10);
  std::lock_guard lock(mutex);
  std::thread([&] { CHECK(!mutex.try_lock_for(5ms)); }).join();
  return ok();
}
