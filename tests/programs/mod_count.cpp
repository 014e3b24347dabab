// A collection that counts its modifications, and a walk that asks at every step whether something
// was changed: each step is locked, the walk is not.
// FINDS: label=FailFastList::sum variable=numbers.mod_count_ at=begin,step
#include <mutex>

#include "threads.h"

class FailFastList {
 public:
  void add(int number) {
    std::lock_guard lock(mutex_);
    numbers_[count_++] = number;
    mod_count_++;
  }

  int mod_count() {
    std::lock_guard lock(mutex_);
    return mod_count_;  // @begin
  }

  bool get(int index, int expected_mod_count, int* number) {
    std::lock_guard lock(mutex_);
    if (mod_count_ != expected_mod_count || index >= count_) return false;  // @step
    *number = numbers_[index];
    return true;
  }

  int sum() {
#ifndef BAD
    std::lock_guard lock(mutex_);
#endif
    const int expected = mod_count();
    int total = 0;
    int number = 0;
    for (int i = 0; get(i, expected, &number); i++) total += number;
    return total;
  }

 private:
  std::recursive_mutex mutex_;
  int numbers_[10] = {};
  int count_ = 0;
  int mod_count_ = 0;
};

FailFastList numbers;

int main() {
  numbers.add(1);
  in_threads({[] { numbers.sum(); }, [] { numbers.add(2); }});
}
