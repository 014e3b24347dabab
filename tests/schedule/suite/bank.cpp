// Transfers lock the accounts one by one; an audit that adds them up misses the money on its way.
#include <array>
#include <mutex>

#include "threads.h"

static std::array<std::mutex, 3> locks;
static std::array<int, 3> balances = {100, 100, 100};
[[maybe_unused]] static std::mutex all;

static void transfer(int from, int to, int amount) {
#ifdef FIXED
  std::lock_guard whole(all);
#endif
  {
    std::lock_guard lock(locks[from]);
    balances[from] -= amount;
  }
  std::lock_guard lock(locks[to]);
  balances[to] += amount;
}

static void audit() {
#ifdef FIXED
  std::lock_guard whole(all);
#endif
  int sum = 0;
  for (int i = 0; i < 3; i++) {
    std::lock_guard lock(locks[i]);
    sum += balances[i];
  }
  assert(sum == 300);
}

int main() {
  return run({[] { transfer(0, 1, 10); }, [] { transfer(2, 0, 20); }, audit});
}
