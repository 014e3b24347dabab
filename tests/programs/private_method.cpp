// A private method is no transaction: what it must keep whole is its callers' business.
// FINDS: label=Counter::add_twice variable=counter.count_ at=add
#include <mutex>
#include <thread>

class Counter {
 public:
  static void run(Counter* counter) { counter->add_twice(); }

#ifndef BAD
 private:
#endif
  void add_twice() {
    add();
    add();
  }

 private:
  void add() {
    std::lock_guard lock(mutex_);
    count_++;  // @add
  }

  std::mutex mutex_;
  int count_ = 0;
};

Counter counter;

int main() {
  std::thread first(&Counter::run, &counter);
  std::thread second(&Counter::run, &counter);
  first.join();
  second.join();
}
