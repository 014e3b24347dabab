// Two locks in both orders.
// EXPECT: deadlock sometimes
#include <mutex>
#include <thread>

#include "check.h"

int main() {
  std::mutex a, b;
  int count = 0;
  std::thread one([&] {
    std::lock_guard first(a);
    std::lock_guard second(b);
    count++;
  });
  std::thread two([&] {
    std::lock_guard first(b);
    std::lock_guard second(a);
    count++;
  });
  one.join();
  two.join();
  CHECK(count == 2);
  return ok();
}
