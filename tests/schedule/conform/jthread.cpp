// std::jthread, stop tokens and callbacks, condition_variable_any with a stop token.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "check.h"

int main() {
  std::mutex mutex;
  std::condition_variable_any changed;
  int items = 0, taken = 0;
  std::atomic<int> callbacks = 0;
  {
    std::jthread consumer([&](std::stop_token stop) {
      std::stop_callback told(stop, [&] { callbacks++; });
      std::unique_lock lock(mutex);
      while (changed.wait(lock, stop, [&] { return items > 0; })) {
        items--;
        taken++;
        changed.notify_all();
      }
      CHECK(stop.stop_requested());
    });
    std::jthread spinner([](std::stop_token stop) {
      while (!stop.stop_requested()) std::this_thread::yield();
    });
    for (int i = 0; i < 5; i++) {
      std::unique_lock lock(mutex);
      items++;
      changed.notify_all();
      changed.wait(lock, [&] { return items == 0; });
    }
  }
  CHECK(taken == 5 && callbacks <= 1);  // it may see the stop and withdraw the callback first
  return ok();
}
