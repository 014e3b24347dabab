// Two semaphores count what is on a shelf and what room there is. They do not protect the shelf.
// FLAGS: -std=c++20
// FINDS: label=Shelf::put variable=shelf.count_ at=put
// FINDS: label=Shelf::take variable=shelf.count_ at=take
#include <mutex>
#include <semaphore>

#include "threads.h"

class Shelf {
 public:
  void put(int item) {
    room_.acquire();
    lock();
    items_[count_++] = item;  // @put
    unlock();
    filled_.release();
  }

  int take() {
    filled_.acquire();
    lock();
    const int item = items_[--count_];  // @take
    unlock();
    room_.release();
    return item;
  }

 private:
#ifdef BAD
  void lock() {}
  void unlock() {}
#else
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
#endif
  [[maybe_unused]] std::mutex mutex_;
  std::counting_semaphore<> room_{5};
  std::counting_semaphore<> filled_{0};
  int items_[20] = {};
  int count_ = 5;
};

Shelf shelf;

static void produce() {
  for (int i = 0; i < 10; i++) shelf.put(i);
}
static void consume() {
  for (int i = 0; i < 10; i++) shelf.take();
}

int main() { in_threads({produce, consume}); }
