// A semaphore of one as a lock. Prediction takes it for none: whoever gives a semaphore back need
// not be who took it.
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
  sem_init(&semaphore, 0, 1);
  in_threads({[] { add_if_room(); }, [] { add_if_room(); }});
  sem_destroy(&semaphore);
}
