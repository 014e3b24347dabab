// What is prepared before the threads exist, and read after they have ended, needs no lock.
#include <mutex>
#include <numeric>
#include <vector>

#include "threads.h"

std::mutex mutex;
std::vector<int> numbers;
int next;

void prepare() {
  numbers.assign(100, 1);
  next = 0;
}

int take() {
  std::lock_guard lock(mutex);
  return numbers[next++];
}

int sum_of_rest() { return std::accumulate(numbers.begin() + next, numbers.end(), 0); }

static void work() {
  for (int i = 0; i < 10; i++) take();
}

int main() {
  prepare();
  in_threads({work, work});
  return sum_of_rest() == 80 ? 0 : 1;
}
