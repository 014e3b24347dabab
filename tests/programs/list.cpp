// A synchronized list of JDK 1.4.2: contains_all holds the list's own lock, but not that of the
// list it goes through (section 5 of the AtomFuzzer paper).
// FINDS: label=SynchronizedList::contains_all variable=small at=size,get
#include <algorithm>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>

#include "threads.h"

class SynchronizedList {
 public:
  SynchronizedList(std::initializer_list<int> elements) : elements_(elements) {}

  std::size_t size() {
    std::lock_guard lock(mutex_);
    return elements_.size();  // @size
  }

  std::optional<int> get(std::size_t index) {
    std::lock_guard lock(mutex_);
    if (index >= elements_.size()) return std::nullopt;  // @get
    return *std::next(elements_.begin(), static_cast<std::ptrdiff_t>(index));
  }

  void add(int element) {
    std::lock_guard lock(mutex_);
    elements_.push_back(element);
  }

  bool contains_all(SynchronizedList& others) {
    std::lock_guard lock(mutex_);
#ifndef BAD
    std::lock_guard both(others.mutex_);
#endif
    for (std::size_t i = 0; i < others.size(); i++) {
      const std::optional<int> wanted = others.get(i);
      if (!wanted || std::find(elements_.begin(), elements_.end(), *wanted) == elements_.end())
        return false;
    }
    return true;
  }

 private:
  std::recursive_mutex mutex_;
  std::list<int> elements_;
};

SynchronizedList large = {1, 2, 3, 4};
SynchronizedList small = {2, 3};

int main() {
  in_threads({[] { large.contains_all(small); }, [] { small.add(4); }});
}
