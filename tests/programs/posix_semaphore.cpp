// A semaphore counts what is on a shelf. It does not protect the shelf.
// FINDS: label=Shelf::put variable=shelf.count_ at=put
// FINDS: label=Shelf::take variable=shelf.count_ at=take
#include <pthread.h>
#include <semaphore.h>

#include "threads.h"

class Shelf {
 public:
  Shelf() { sem_init(&filled_, 0, 0); }
  ~Shelf() { sem_destroy(&filled_); }

  void put(int item) {
    lock();
    items_[count_++] = item;  // @put
    unlock();
    sem_post(&filled_);
  }

  int take() {
    sem_wait(&filled_);
    lock();
    const int item = items_[--count_];  // @take
    unlock();
    return item;
  }

 private:
#ifdef BAD
  void lock() {}
  void unlock() {}
#else
  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }
#endif
  [[maybe_unused]] pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  sem_t filled_;
  int items_[20] = {};
  int count_ = 5;
};

Shelf shelf;

static void produce() {
  for (int i = 0; i < 5; i++) shelf.put(i);
}
static void consume() {
  for (int i = 0; i < 5; i++) shelf.take();
}

int main() { in_threads({produce, consume}); }
