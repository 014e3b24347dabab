// A loop that reads, computes and tries to store with compare-and-exchange is atomic: the exchange
// fails if the value is another one by then. Prediction does not look at values, and takes the read
// and the exchange for two steps with a gap.
// FINDS: label=double_it variable=value at=exchange
#include <atomic>

#include "threads.h"

std::atomic<int> value = 1;

void double_it() {
  int old = value.load();
  while (!value.compare_exchange_weak(old, old * 2)) {  // @exchange
  }
}

int main() {
  in_threads({[] { double_it(); }, [] { double_it(); }});
  return value == 4 ? 0 : 1;
}
