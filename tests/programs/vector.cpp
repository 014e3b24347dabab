// java.util.Vector in JDK 1.4.2: the constructor asks the other vector for its size and then for
// its elements (Figure 1 of Wang & Stoller). Each call is synchronized, the two together are not.
// FINDS: label=Vector::Vector variable=source.count_ at=size,copy
#include <algorithm>
#include <memory>
#include <mutex>

#include "threads.h"

class Vector {
 public:
  explicit Vector(int count) : count_(count), elements_(new int[count]()) {}

  Vector(Vector& other) {
#ifndef BAD
    std::lock_guard lock(other.monitor_);
#endif
    count_ = other.size();
    elements_ = std::make_unique<int[]>(count_);
    other.copy_into(elements_.get(), count_);
  }

  int size() {
    std::lock_guard lock(monitor_);
    return count_;  // @size
  }

  void copy_into(int* array, int room) {
    std::lock_guard lock(monitor_);
    std::copy_n(elements_.get(), std::min(count_, room), array);  // @copy
  }

  void remove_all_elements() {
    std::lock_guard lock(monitor_);
    count_ = 0;
  }

 private:
  std::recursive_mutex monitor_;
  int count_;
  std::unique_ptr<int[]> elements_;
};

Vector source(5);

int main() {
  in_threads({[] { Vector copy(source); }, [] { source.remove_all_elements(); }});
}
