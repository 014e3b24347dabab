// Four philosophers, each takes the left fork first.
#include <array>
#include <mutex>

#include "threads.h"

static std::array<std::mutex, 4> forks;
static std::array<int, 4> meals;

static void dine(int seat) {
  int left = seat, right = (seat + 1) % 4;
#ifdef FIXED
  if (left > right) std::swap(left, right);
#endif
  std::lock_guard first(forks[left]);
  std::lock_guard second(forks[right]);
  meals[seat]++;
}

int main() {
  return run({[] { dine(0); }, [] { dine(1); }, [] { dine(2); }, [] { dine(3); }});
}
