// FINDS: label=add_if_room variable=count at=look,add
#include <chrono>
#include <mutex>

#include "threads.h"

std::timed_mutex mutex;
int count;

void add_if_room() {
  std::unique_lock lock(mutex, std::chrono::minutes(1));
  const bool room = lock && count < 10;  // @look
#ifdef BAD
  lock.unlock();
  if (!lock.try_lock_for(std::chrono::minutes(1))) return;
#endif
  if (room) count++;  // @add
}

int main() {
  in_threads({[] { add_if_room(); }, [] { add_if_room(); }});
}
