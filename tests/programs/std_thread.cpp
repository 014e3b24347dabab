// std::thread with a function, a method, a lambda and arguments: none of the entries is a
// transaction, what they call is.
// FINDS: label=Counter::add_if_room variable=counter.count_ at=look,add
#include <functional>
#include <mutex>
#include <thread>

class Counter {
 public:
  int look() {
    std::lock_guard lock(mutex_);
    return count_;  // @look
  }
  void add(int amount) {
    std::lock_guard lock(mutex_);
    count_ += amount;  // @add
  }
  void add_if_room(int amount) {
#ifdef BAD
    if (look() < 1000) add(amount);
#else
    std::lock_guard lock(mutex_);
    if (count_ < 1000) count_ += amount;
#endif
  }
  // Locks many times. As the entry of a thread it need not be atomic.
  void add_often(int times) {
    for (int i = 0; i < times; i++) add_if_room(i);
  }

 private:
  std::mutex mutex_;
  int count_ = 0;
};

Counter counter;

void add_twice(Counter& to, int amount) {
  to.add_if_room(amount);
  to.add_if_room(amount);
}

int main() {
  std::thread method(&Counter::add_often, &counter, 3);
  std::thread function(add_twice, std::ref(counter), 2);
  std::thread lambda([amount = 4] {
    counter.add_if_room(amount);
    counter.add_if_room(amount);
  });
  method.join();
  function.join();
  lambda.join();
}
