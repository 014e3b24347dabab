// Two thousand threads, which wait for each other so that all are there at once.
// FINDS: label=add_if_room variable=count at=look,add
#include <pthread.h>

#include <cstdlib>

static constexpr int kThreads = 2000;

pthread_barrier_t barrier;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int count;

void add_if_room() {
  pthread_mutex_lock(&mutex);
  const bool room = count < 2 * kThreads;  // @look
#ifdef BAD
  pthread_mutex_unlock(&mutex);
  pthread_mutex_lock(&mutex);
#endif
  if (room) count++;  // @add
  pthread_mutex_unlock(&mutex);
}

static void* work(void*) {
  add_if_room();
  pthread_barrier_wait(&barrier);
  add_if_room();
  return nullptr;
}

int main() {
  pthread_barrier_init(&barrier, nullptr, kThreads);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 128 * 1024);
  static pthread_t threads[kThreads];
  for (pthread_t& thread : threads)
    if (pthread_create(&thread, &small, work, nullptr) != 0) std::abort();
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  return count == 2 * kThreads ? 0 : 1;
}
