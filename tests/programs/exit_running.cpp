// The program ends while its threads go on.
// STATUS: 3
// FINDS: label=add_if_room variable=count at=look,add
#include <semaphore.h>

#include <cstdlib>
#include <mutex>
#include <thread>

std::mutex mutex;
long count;
sem_t under_way;

void add_if_room() {
  std::unique_lock lock(mutex);
  const bool room = count >= 0;  // @look
#ifdef BAD
  lock.unlock();
  lock.lock();
#endif
  if (room) count++;  // @add
}

static void work() {
  for (int i = 0; i < 100; i++) add_if_room();
  sem_post(&under_way);
  for (;;) add_if_room();
}

int main() {
  sem_init(&under_way, 0, 0);
  std::thread(work).detach();
  std::thread(work).detach();
  sem_wait(&under_way);
  sem_wait(&under_way);
  std::exit(3);
}
