// FINDS: label=add_if_room variable=count at=look,add
#include <pthread.h>

#include "threads.h"

pthread_spinlock_t spin;
int count;

void add_if_room() {
  pthread_spin_lock(&spin);
  const bool room = count < 10;  // @look
#ifdef BAD
  pthread_spin_unlock(&spin);
  while (pthread_spin_trylock(&spin) != 0) std::this_thread::yield();
#endif
  if (room) count++;  // @add
  pthread_spin_unlock(&spin);
}

int main() {
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  in_threads({[] { add_if_room(); }, [] { add_if_room(); }});
  pthread_spin_destroy(&spin);
}
