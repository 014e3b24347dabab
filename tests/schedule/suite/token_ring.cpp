// Each thread copies its neighbour's number; all is well unless they go in the reverse order.
#include <array>
#include <mutex>

#include "threads.h"

static std::mutex mutex;
static std::array<int, 4> numbers = {1, 1, 1, 1};

static void pass(int to, int from) {
  std::lock_guard lock(mutex);
  numbers[to] = (numbers[from] + 1) % 4;
}

int main() {
  return run({[] { pass(1, 0); }, [] { pass(2, 1); }, [] { pass(3, 2); }},
             [] { assert(numbers[1] + numbers[2] + numbers[3] != 2 + 2 + 2); });
}
