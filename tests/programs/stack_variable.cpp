// A local variable of main that threads are given the address of.
// FINDS: label=add_if_room at=look,add
#include <pthread.h>

struct Shared {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  int count = 0;
};

void add_if_room(Shared* shared) {
  pthread_mutex_lock(&shared->mutex);
  const bool room = shared->count < 10;  // @look
#ifdef BAD
  pthread_mutex_unlock(&shared->mutex);
  pthread_mutex_lock(&shared->mutex);
#endif
  if (room) shared->count++;  // @add
  pthread_mutex_unlock(&shared->mutex);
}

static void* work(void* shared) {
  add_if_room(static_cast<Shared*>(shared));
  return nullptr;
}

int main() {
  Shared shared;
  pthread_t threads[2];
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, work, &shared);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  return shared.count == 2 ? 0 : 1;
}
