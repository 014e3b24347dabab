// tomos model --from-cpp examples/drivers/dekker.cpp                 proved
// tomos model --from-cpp examples/drivers/dekker.cpp -- -DBROKEN     both are inside
//
// Dekker's mutual exclusion with atomics, run by a list of functions. Broken: one looks at the
// other's flag before it raises its own.
#include <atomic>
#include <cassert>
#include <functional>
#include <initializer_list>
#include <thread>
#include <vector>

static std::atomic<bool> wants[2];
static std::atomic<int> turn{0};
static std::atomic<int> inside{0};

static void enter(int me) {
#ifdef BROKEN
  while (wants[1 - me]) {
  }
  wants[me] = true;
#else
  wants[me] = true;
  while (wants[1 - me]) {
    if (turn == me) continue;
    wants[me] = false;
    while (turn != me) {
    }
    wants[me] = true;
  }
#endif
}

static void work(int me) {
  enter(me);
  ++inside;
  assert(inside == 1);
  --inside;
  turn = 1 - me;
  wants[me] = false;
}

static void run(std::initializer_list<std::function<void()>> bodies) {
  std::vector<std::thread> threads;
  for (const auto& body : bodies) threads.emplace_back(body);
  for (std::thread& thread : threads) thread.join();
}

int main() {
  run({[] { work(0); }, [] { work(1); }});
}
