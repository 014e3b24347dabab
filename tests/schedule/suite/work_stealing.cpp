// A work-stealing queue (owner at the tail, thieves at the head): the owner's take of the last item
// is not protected against a thief.
#include <array>
#include <atomic>
#include <mutex>

#include "threads.h"

class Deque {
 public:
  void push(int item) {
    const int tail = tail_;
    items_[tail] = item;
    tail_ = tail + 1;
  }
  // -1: nothing there.
  int take() {
    const int tail = tail_ - 1;
    tail_ = tail;
#ifdef FIXED
    if (head_ <= tail - 1) return items_[tail];
#else
    if (head_ <= tail) return items_[tail];
#endif
    std::lock_guard lock(mutex_);
    if (head_ <= tail) return items_[tail];
    tail_ = tail + 1;
    return -1;
  }
  int steal() {
    std::lock_guard lock(mutex_);
    const int head = head_;
#ifdef FIXED
    head_ = head + 1;
    if (head < tail_) return items_[head];
    head_ = head;
    return -1;
#else
    if (head >= tail_) return -1;
    const int item = items_[head];
    head_ = head + 1;
    return item;
#endif
  }

 private:
  std::mutex mutex_;
  std::array<std::atomic<int>, 8> items_{};
  std::atomic<int> head_ = 0, tail_ = 0;
};

static Deque deque;
static std::array<std::atomic<int>, 4> done;

static void perform(int item) {
  if (item >= 0) assert(++done[item] == 1);
}

static void own() {
  for (int i = 0; i < 4; i++) {
    deque.push(i);
    if (i % 2 == 1) perform(deque.take());
  }
  for (int i = 0; i < 4; i++) perform(deque.take());
}

static void steal() {
  for (int i = 0; i < 2; i++) perform(deque.steal());
}

int main() { return run({own, steal}); }
