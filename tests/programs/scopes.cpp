// TOMOS_ATOMIC makes a transaction of a part of a function that is none.
// FINDS: label=move variable=left at=change
#include <tomos/tomos.h>

#include <mutex>

#include "threads.h"

std::mutex mutex;
int left = 100;
int right;

static void change(int* side, int amount) {
  std::lock_guard lock(mutex);
  *side += amount;  // @change
}

static void move() {
#ifdef BAD
  TOMOS_ATOMIC("move");
#endif
  change(&left, -1);
  change(&right, 1);
}

int main() { in_threads({move, move}); }
