// Re-acquiring a lock that is held, and giving it back, is no end of the critical section.
// FINDS: label=Counter::add_if_room variable=counter.count_ at=look,add
#include <pthread.h>

#include "threads.h"

class Counter {
 public:
  Counter() {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }
  ~Counter() { pthread_mutex_destroy(&mutex_); }

  int look() {
    pthread_mutex_lock(&mutex_);
    const int count = count_;  // @look
    pthread_mutex_unlock(&mutex_);
    return count;
  }

  void add() {
    pthread_mutex_lock(&mutex_);
    count_++;  // @add
    pthread_mutex_unlock(&mutex_);
  }

  void add_if_room() {
#ifndef BAD
    pthread_mutex_lock(&mutex_);
#endif
    if (look() < 10) add();
#ifndef BAD
    pthread_mutex_unlock(&mutex_);
#endif
  }

 private:
  pthread_mutex_t mutex_;
  int count_ = 0;
};

Counter counter;

int main() {
  in_threads({[] { counter.add_if_room(); }, [] { counter.add_if_room(); }});
}
