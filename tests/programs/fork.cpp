// The child of a fork has threads of its own, and is judged by itself. What the parent does at the
// same time has nothing to do with it.
// FINDS: label=add_if_room variable=count at=look,add
// PRINTS: parent 2, child 0
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>

#include "threads.h"

std::mutex mutex;
int count;

void add() {
  std::lock_guard lock(mutex);
  count++;
}

void add_if_room() {
  std::unique_lock lock(mutex);
  const bool room = count < 10;  // @look
#ifdef BAD
  lock.unlock();
  lock.lock();
#endif
  if (room) count++;  // @add
}

static void run_child() {
  in_threads({[] { add_if_room(); }, [] { add_if_room(); }});
}

int main() {
  in_threads({[] { add(); }, [] { add(); }});
  const pid_t child = fork();
  if (child == 0) {
    run_child();
    _exit(count == 4 ? 0 : 1);
  }
  int status = 1;
  if (waitpid(child, &status, 0) != child) return 1;
  std::printf("parent %d, child %d\n", count, status);
}
