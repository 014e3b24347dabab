// Writers of a log reserve room in one step and say that it is filled in another; a reader sees a
// gap. Atomics only.
#include <array>
#include <atomic>

#include "threads.h"

static std::array<std::atomic<int>, 8> entries;
static std::atomic<int> reserved = 0, filled = 0;

static void append(int value) {
  const int place = reserved++;
  entries[place] = value;
#ifdef FIXED
  while (filled != place) std::this_thread::yield();
#endif
  filled++;
}

static void check() {
  const int end = filled;
  for (int i = 0; i < end; i++) assert(entries[i] != 0);
}

int main() {
  return run({[] {
                append(1);
                append(2);
              },
              [] { append(3); }, check});
}
