// Where it is a system header.
#include <log.h>

#include "inc/shared.h"

int S::get() {
  std::lock_guard<std::mutex> lock(mutex);
  log_print(1, "tag", "format %d", changes);
  return Event::name(changes) + last.count;
}

int S::quick() {
  std::lock_guard<std::mutex> lock(mutex);
  return Event::name(changes) + last.count;
}

int Pool::take() {
  std::lock_guard<std::mutex> lock(mutex);
  return free--;
}
void Pool::reset() { ++resets; }
