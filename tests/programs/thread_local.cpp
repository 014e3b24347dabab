// Every thread has its own counter, or they all have one.
// FINDS: label=next_number variable=number at=next
#include "threads.h"

#ifdef BAD
int number;
#else
thread_local int number;
#endif

int next_number() { return ++number; }  // @next

static void work() {
  for (int i = 0; i < 3; i++) next_number();
}

int main() { in_threads({work, work}); }
