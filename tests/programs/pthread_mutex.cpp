// FINDS: label=add_if_room variable=count at=look,add
#include <pthread.h>

#include "threads.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int count;

void add_if_room() {
  pthread_mutex_lock(&mutex);
  const bool room = count < 10;  // @look
#ifdef BAD
  pthread_mutex_unlock(&mutex);
  pthread_mutex_lock(&mutex);
#endif
  if (room) count++;  // @add
  pthread_mutex_unlock(&mutex);
}

int main() {
  in_threads({[] { add_if_room(); }, [] { add_if_room(); }});
}
