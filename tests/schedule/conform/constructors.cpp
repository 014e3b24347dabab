// Threads before main, by a static object, and after it, by its destructor; allocation in many
// threads.
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

struct Early {
  Early() {
    std::thread([this] {
      std::lock_guard lock(mutex);
      count++;
    }).join();
  }
  ~Early() {
    std::thread([this] {
      std::lock_guard lock(mutex);
      count++;
    }).join();
    CHECK(count == 5);
    ok();
  }
  std::mutex mutex;
  int count = 0;
} early;

int main() {
  CHECK(early.count == 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) {
    threads.emplace_back([] {
      std::vector<std::string> strings;
      for (int n = 0; n < 200; n++) strings.emplace_back(n * 10, 'x');
      for (const auto& string : strings) CHECK(string.size() % 10 == 0);
      std::lock_guard lock(early.mutex);
      early.count++;
    });
  }
  for (auto& thread : threads) thread.join();
}
