// A synchronized set: add_all goes through another set whose lock it does not hold.
// FINDS: label=SynchronizedSet::add_all variable=source at=size,at
#include <cstddef>
#include <iterator>
#include <mutex>
#include <set>

#include "threads.h"

class SynchronizedSet {
 public:
  SynchronizedSet(std::initializer_list<int> elements) : elements_(elements) {}

  std::size_t size() {
    std::lock_guard lock(mutex_);
    return elements_.size();  // @size
  }

  int at(std::size_t index) {
    std::lock_guard lock(mutex_);
    if (index >= elements_.size()) return 0;  // @at
    return *std::next(elements_.begin(), static_cast<std::ptrdiff_t>(index));
  }

  void add(int element) {
    std::lock_guard lock(mutex_);
    elements_.insert(element);
  }

  void add_all(SynchronizedSet& others) {
    std::lock_guard lock(mutex_);
#ifndef BAD
    std::lock_guard both(others.mutex_);
#endif
    const std::size_t count = others.size();
    for (std::size_t i = 0; i < count; i++) elements_.insert(others.at(i));
  }

 private:
  std::recursive_mutex mutex_;
  std::set<int> elements_;
};

SynchronizedSet source = {1, 2, 3};
SynchronizedSet target = {4, 5};

int main() {
  in_threads({[] { target.add_all(source); }, [] { source.add(0); }});
}
