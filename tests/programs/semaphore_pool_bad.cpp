// A semaphore of two is no lock: two threads get past it at a time, even if in this run they came
// one after the other.
// FINDS: label=add_if_room variable=count at=add
#include <semaphore.h>

#include "threads.h"

sem_t semaphore;
int count;

void add_if_room() {
  sem_wait(&semaphore);
  if (count < 10) count++;  // @add
  sem_post(&semaphore);
}

int main() {
  sem_init(&semaphore, 0, 2);
  in_threads({[] { add_if_room(); }, [] { add_if_room(); }});
  sem_destroy(&semaphore);
}
