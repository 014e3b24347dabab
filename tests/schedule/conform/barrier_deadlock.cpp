// A barrier for one more than there are.
// EXPECT: deadlock always
#include <barrier>
#include <thread>

#include "check.h"

int main() {
  std::barrier barrier(3);
  std::thread one([&] { barrier.arrive_and_wait(); });
  std::thread two([&] { barrier.arrive_and_wait(); });
  one.join();
  two.join();
  return ok();
}
