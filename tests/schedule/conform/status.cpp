// A failure by exit status under one order only.
// EXPECT: exit 3 sometimes
#include <mutex>
#include <thread>

#include "check.h"

int main() {
  std::mutex mutex;
  int first = 0;
  const auto race = [&](int number) {
    std::lock_guard lock(mutex);
    if (first == 0) first = number;
  };
  std::thread one(race, 1);
  std::thread two(race, 2);
  one.join();
  two.join();
  if (first == 2) return 3;
  return ok();
}
