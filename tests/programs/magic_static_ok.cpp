// A static object that the first call constructs. The compiler's guard orders that before all uses.
#include <mutex>

#include "threads.h"

class Registry {
 public:
  static Registry& instance() {
    static Registry registry;
    return registry;
  }
  int add(int amount) {
    std::lock_guard lock(mutex_);
    sum_ += amount * factor_;
    return sum_;
  }

 private:
  Registry() {
    factor_ = limit_ + 1;
    sum_ = factor_;
  }

  std::mutex mutex_;
  volatile int limit_ = 2;
  int factor_;
  int sum_;
};

void count_call() { Registry::instance().add(1); }

int main() {
  in_threads({[] { count_call(); }, [] { count_call(); }});
}
