// Sixty threads, made by several, that all take the same lock.
#include <mutex>
#include <thread>
#include <vector>

#include "check.h"

int main() {
  std::mutex mutex;
  int count = 0;
  std::vector<std::thread> makers;
  for (int m = 0; m < 6; m++) {
    makers.emplace_back([&] {
      std::vector<std::jthread> workers;
      for (int w = 0; w < 9; w++) {
        workers.emplace_back([&] {
          std::lock_guard lock(mutex);
          count++;
        });
      }
    });
  }
  for (auto& maker : makers) maker.join();
  CHECK(count == 54);
  return ok();
}
