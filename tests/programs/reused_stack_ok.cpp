// The stacks of threads are reused too, by other threads and by other functions of the same one.
#include <pthread.h>

#include "threads.h"

static void* fill(void* given) {
  // Each thread works on a local of its creator and on locals of its own, at the same addresses as
  // those of the thread before it.
  int* number = static_cast<int*>(given);
  volatile int mine[16] = {};
  for (int i = 0; i < 16; i++) mine[i] = *number + i;
  *number = mine[15];
  return nullptr;
}

int start_and_wait() {
  int number = 1;
  for (int i = 0; i < 10; i++) {
    pthread_t thread;
    pthread_create(&thread, nullptr, fill, &number);
    pthread_join(thread, nullptr);
  }
  return number;
}

static void work() { start_and_wait(); }

int main() { in_threads({work, work}); }
