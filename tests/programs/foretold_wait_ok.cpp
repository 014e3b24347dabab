// What has a way to a wait on a condition is no transaction, and that does not depend on whether a
// run goes this way: a queue that is never full here would otherwise be one only sometimes.
#include <condition_variable>
#include <mutex>

#include "threads.h"

class Queue {
 public:
  void put() {
    std::unique_lock lock(mutex_);
    taken_.wait(lock, [this] { return count_ < kRoom; });
    count_++;
  }

 private:
  static constexpr int kRoom = 100;
  std::mutex mutex_;
  std::condition_variable taken_;
  int count_ = 0;
};

Queue queue;

void put_twice() {
  queue.put();
  queue.put();
}

int main() {
  in_threads({[] { put_twice(); }, [] { put_twice(); }});
}
