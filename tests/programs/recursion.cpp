// A recursive function: only the outermost call is a transaction.
// FINDS: label=add_up variable=total at=add
#include <mutex>

#include "threads.h"

std::mutex mutex;
long total;

static void add(long amount) {
  std::lock_guard lock(mutex);
  total += amount;  // @add
}

#ifdef BAD
void add_up(int depth) {
  if (depth == 0) return;
  add(depth);
  add_up(depth - 1);
}
#else
static long sum(int depth) { return depth == 0 ? 0 : depth + sum(depth - 1); }
void add_up(int depth) { add(sum(depth)); }
#endif

int main() {
  in_threads({[] { add_up(30); }, [] { add_up(40); }});
}
