// Exceptions thrown and caught in threads while locks are held: they are released on the way.
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.h"

static std::mutex mutex;
static int thrown, caught;

static void fail(int depth) {
  std::lock_guard lock(mutex);
  if (depth == 0) {
    thrown++;
    throw std::runtime_error("inside");
  }
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) {
    threads.emplace_back([] {
      for (int n = 0; n < 4; n++) {
        try {
          fail(n % 2);
        } catch (const std::runtime_error&) {
          std::lock_guard lock(mutex);
          caught++;
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(thrown == 6 && caught == 6);
  return ok();
}
