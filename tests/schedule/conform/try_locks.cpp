// std::lock, std::scoped_lock and std::try_lock over two mutexes in both orders: no deadlock.
#include <mutex>
#include <thread>

#include "check.h"

int main() {
  std::mutex a, b;
  std::recursive_mutex c;
  int count = 0;
  std::thread one([&] {
    for (int i = 0; i < 5; i++) {
      std::scoped_lock both(a, b, c);
      count++;
    }
  });
  std::thread two([&] {
    for (int i = 0; i < 5; i++) {
      std::lock(b, a);
      std::lock_guard first(a, std::adopt_lock);
      std::lock_guard second(b, std::adopt_lock);
      count++;
    }
  });
  for (int i = 0; i < 5; i++) {
    while (std::try_lock(b, c, a) != -1) std::this_thread::yield();
    count++;
    b.unlock();
    c.unlock();
    a.unlock();
  }
  one.join();
  two.join();
  CHECK(count == 15);
  return ok();
}
