// A semaphore of one as a lock: whoever takes the only token gives it back.
#include <semaphore.h>

#include "threads.h"

sem_t semaphore;
int count;

void add_if_room() {
  sem_wait(&semaphore);
  if (count < 10) count++;
  sem_post(&semaphore);
}

int main() {
  sem_init(&semaphore, 0, 1);
  in_threads({[] { add_if_room(); }, [] { add_if_room(); }});
  sem_destroy(&semaphore);
}
