// A thread that is not main calls exit while main waits to join it; the status is its own.
#include <cstdlib>
#include <thread>

#include "check.h"

int main() {
  std::thread ender([] {
    ok();
    std::exit(0);
  });
  ender.join();
  CHECK(!"reached");
}
