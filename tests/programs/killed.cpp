// A program that is killed: what it did until then is judged, and it is seen to die of the same
// signal.
// STATUS: -9
// FINDS: label=add_if_room variable=count at=look,add
#include <csignal>
#include <mutex>

#include "threads.h"

std::mutex mutex;
int count;

void add_if_room() {
  std::unique_lock lock(mutex);
  const bool room = count < 10;  // @look
#ifdef BAD
  lock.unlock();
  lock.lock();
#endif
  if (room) count++;  // @add
}

int main() {
  in_threads({[] { add_if_room(); }, [] { add_if_room(); }});
  std::raise(SIGKILL);
}
