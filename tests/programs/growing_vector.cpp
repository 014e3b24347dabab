// The elements of a std::vector move when it grows.
// FINDS: label=append_sum variable=numbers
#include <mutex>
#include <numeric>
#include <vector>

#include "threads.h"

std::mutex mutex;
std::vector<long> numbers = {1, 2};

static long sum() {
  std::lock_guard lock(mutex);
  return std::accumulate(numbers.begin(), numbers.end(), 0L) % 1000;
}

void append_sum() {
#ifdef BAD
  const long value = sum();
  std::lock_guard lock(mutex);
#else
  std::lock_guard lock(mutex);
  const long value = std::accumulate(numbers.begin(), numbers.end(), 0L) % 1000;
#endif
  numbers.push_back(value);
}

static void work() {
  for (int i = 0; i < 20; i++) append_sum();
}

int main() {
  in_threads({work, work});
  return sum() >= 0 ? 0 : 1;
}
