// An atomic counter, increased in two operations or in one.
// FINDS: label=increase variable=counter at=increase
#include <atomic>

#include "threads.h"

std::atomic<int> counter;

void increase() {
#ifdef BAD
  counter.store(counter.load() + 1);  // @increase
#else
  counter.fetch_add(1);
#endif
}

int main() {
  in_threads({[] { increase(); }, [] { increase(); }});
  return counter.load() > 0 ? 0 : 1;
}
