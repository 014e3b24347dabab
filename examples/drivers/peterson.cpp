// tomos model --from-cpp examples/drivers/peterson.cpp                 nobody is there with another
// tomos model --from-cpp examples/drivers/peterson.cpp -- -DBROKEN     two are
//
// Peterson's mutual exclusion with atomics. Broken: a thread says whose turn it is before it says
// that it wants to enter.
#include <tomos/tomos.h>

#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<bool> wants[2];
static std::atomic<int> turn;
static bool inside;
static int counter;

static void enter(int me) {
#ifdef BROKEN
  turn = 1 - me;
  wants[me] = true;
#else
  wants[me] = true;
  turn = 1 - me;
#endif
  while (wants[1 - me] && turn == 1 - me) std::this_thread::yield();
}

static void count(int me) {
  enter(me);
  {
    TOMOS_ATOMIC("critical");
    assert(!inside);
    inside = true;
    counter = counter + 1;
    inside = false;
  }
  wants[me] = false;
}

int main() {
  std::thread first(count, 0);
  std::thread second(count, 1);
  first.join();
  second.join();
}
