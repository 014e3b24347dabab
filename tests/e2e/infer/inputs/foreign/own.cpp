// Where log.h is the project's.
#include "inc/log.h"
#include "inc/shared.h"

int Event::name(int action) { return action + 1; }

void S::put() {
  std::lock_guard<std::mutex> lock(mutex);
  last.count = ++changes;
  log_print(1, "tag", "format %d", changes);
}

void Pool::give() {
  std::lock_guard<std::mutex> lock(mutex);
  ++free;
}
int resets_of(Pool& pool) { return pool.resets; }
