// Methods count though they are always inlined.
// FINDS: label=Counter::add_if_room variable=counter.count_ at=look,add
#include <pthread.h>

#include "threads.h"

class Counter {
 public:
  __attribute__((always_inline)) int look() {
    pthread_mutex_lock(&mutex_);
    const int count = count_;  // @look
    pthread_mutex_unlock(&mutex_);
    return count;
  }

  __attribute__((always_inline)) void add() {
    pthread_mutex_lock(&mutex_);
    count_++;  // @add
    pthread_mutex_unlock(&mutex_);
  }

  __attribute__((always_inline)) void add_if_room() {
#ifdef BAD
    if (look() < 10) add();
#else
    pthread_mutex_lock(&mutex_);
    if (count_ < 10) count_++;
    pthread_mutex_unlock(&mutex_);
#endif
  }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  int count_ = 0;
};

Counter counter;

static void work() {
  counter.add_if_room();
  counter.look();
  counter.add();
}

int main() { in_threads({work, work}); }
