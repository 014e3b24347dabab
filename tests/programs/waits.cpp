// A function that waits on a condition cannot be meant to be atomic, and is no transaction.
// FINDS: label=add_twice variable=count at=add
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "threads.h"

std::mutex mutex;
std::condition_variable never;
int count;

static void add() {
  std::lock_guard lock(mutex);
  count++;  // @add
}

void add_twice() {
  add();
#ifndef BAD
  std::unique_lock lock(mutex);
  never.wait_for(lock, std::chrono::milliseconds(1));
  lock.unlock();
#endif
  add();
}

int main() {
  in_threads({[] { add_twice(); }, [] { add_twice(); }});
}
