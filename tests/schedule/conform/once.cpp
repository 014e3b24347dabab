// pthread_once, std::call_once (also when the first call throws), and a static local's
// initialisation.
#include <pthread.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static std::once_flag flag;
static std::atomic<int> by_pthread, calls, finished, made;

static void initialise() {
  by_pthread++;
  std::this_thread::yield();
}

struct Single {
  Single() {
    made++;
    std::this_thread::yield();
    value = 42;
  }
  int value = 0;
};

static Single& single() {
  static Single instance;
  return instance;
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) {
    threads.emplace_back([] {
      pthread_once(&once, initialise);
      CHECK(by_pthread == 1);
      CHECK(single().value == 42);
      try {
        std::call_once(flag, [] {
          if (++calls == 1) throw std::runtime_error("not yet");
          std::this_thread::yield();
          finished++;
        });
        CHECK(finished == 1);
      } catch (const std::runtime_error&) {
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(calls == 2 && finished == 1 && made == 1);
  return ok();
}
