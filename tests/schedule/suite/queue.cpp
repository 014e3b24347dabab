// A queue that says under its lock whether it is empty, and is then taken from under its lock
// again.
#include <deque>
#include <mutex>

#include "threads.h"

class Queue {
 public:
  void put(int item) {
    std::lock_guard lock(mutex_);
    items_.push_back(item);
  }
  bool empty() {
    std::lock_guard lock(mutex_);
    return items_.empty();
  }
  int take() {
    std::lock_guard lock(mutex_);
    assert(!items_.empty());
    const int item = items_.front();
    items_.pop_front();
    return item;
  }
  int take_all() {
    int sum = 0;
#ifdef FIXED
    std::lock_guard lock(mutex_);
    for (; !items_.empty(); items_.pop_front()) sum += items_.front();
#else
    while (!empty()) sum += take();
#endif
    return sum;
  }

 private:
  std::mutex mutex_;
  std::deque<int> items_;
};

int main() {
  Queue queue;
  return run({[&] {
                for (int i = 1; i <= 3; i++) queue.put(i);
              },
              [&] { queue.take_all(); }, [&] { queue.take_all(); }});
}
