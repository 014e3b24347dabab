// TOMOS_NOT_ATOMIC takes a part of a function out; each critical section in it stands alone.
// FINDS: label=flush variable=flushed at=add
#include <tomos/tomos.h>

#include <mutex>

#include "threads.h"

std::mutex mutex;
int flushed;

static void add_one() {
  std::lock_guard lock(mutex);
  flushed++;  // @add
}

void flush() {
#ifndef BAD
  TOMOS_NOT_ATOMIC;
#endif
  for (int i = 0; i < 3; i++) add_one();
}

int main() {
  in_threads({[] { flush(); }, [] { flush(); }});
}
