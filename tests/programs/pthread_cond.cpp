// Producer and consumer with a bounded queue. put and take wait, and are no transactions for that
// reason; grow does not wait.
// FINDS: label=Queue::grow variable=queue.room_ at=look,grow
#include <pthread.h>

#include "threads.h"

class Queue {
 public:
  void put(int item) {
    pthread_mutex_lock(&mutex_);
    while (count_ == room_) pthread_cond_wait(&not_full_, &mutex_);
    items_[(first_ + count_++) % kMost] = item;
    pthread_cond_signal(&not_empty_);
    pthread_mutex_unlock(&mutex_);
  }

  int take() {
    pthread_mutex_lock(&mutex_);
    while (count_ == 0) pthread_cond_wait(&not_empty_, &mutex_);
    const int item = items_[first_];
    first_ = (first_ + 1) % kMost;
    count_--;
    pthread_cond_signal(&not_full_);
    pthread_mutex_unlock(&mutex_);
    return item;
  }

  void grow() {
    pthread_mutex_lock(&mutex_);
    const int room = room_;  // @look
#ifdef BAD
    pthread_mutex_unlock(&mutex_);
    pthread_mutex_lock(&mutex_);
#endif
    room_ = room < kMost ? room + 1 : room;  // @grow
    pthread_cond_broadcast(&not_full_);
    pthread_mutex_unlock(&mutex_);
  }

 private:
  static constexpr int kMost = 8;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t not_full_ = PTHREAD_COND_INITIALIZER;
  pthread_cond_t not_empty_ = PTHREAD_COND_INITIALIZER;
  int items_[kMost] = {};
  int first_ = 0;
  int count_ = 0;
  int room_ = 2;
};

Queue queue;

static void produce() {
  queue.grow();
  for (int i = 0; i < 100; i++) queue.put(i);
}

static void consume() {
  queue.grow();
  for (int i = 0; i < 100; i++) queue.take();
}

int main() { in_threads({produce, consume}); }
