// tomos model --from-cpp examples/drivers/pool.cpp                 never more than there are
// tomos model --from-cpp examples/drivers/pool.cpp -- -DBROKEN     three have one of two
//
// A pool of two, of which a semaphore counts what is left; three want one at the same time, and how
// many are out is counted by an atomic. Broken: whoever does not get one at once takes one anyhow.
#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <cassert>

static sem_t left;
static pthread_barrier_t all_there;
static std::atomic<int> out;

static void* use(void*) {
  pthread_barrier_wait(&all_there);
#ifdef BROKEN
  sem_trywait(&left);
#else
  sem_wait(&left);
#endif
  assert(out++ < 2);
  --out;
  sem_post(&left);
  return nullptr;
}

int main() {
  sem_init(&left, 0, 2);
  pthread_barrier_init(&all_there, nullptr, 3);
  pthread_t users[3];
  for (pthread_t& user : users) pthread_create(&user, nullptr, use, nullptr);
  for (pthread_t& user : users) pthread_join(user, nullptr);
}
