// The collections of the AtomFuzzer paper's Table 1, in C++: containers without locks whose
// iterators notice that somebody else has changed the container (java.util.AbstractCollection), and
// wrappers that lock each method (java.util.Collections.synchronizedCollection).
#pragma once

#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

struct ConcurrentModification : std::logic_error {
  ConcurrentModification() : logic_error("the collection was changed during an iteration") {}
};

// Container: has begin, end, erase(iterator). Add and find differ, so they are handed in.
template <class Container, class Traits>
class Collection {
 public:
  class Iterator {
   public:
    explicit Iterator(Collection& of)
        : of_(&of), next_(of.items_.begin()), expected_(of.changes_) {}
    [[nodiscard]] bool has_next() const { return next_ != of_->items_.end(); }
    int next() {
      check();
      last_ = next_++;
      return *last_;
    }
    void remove() {
      check();
      next_ = of_->items_.erase(last_);
      expected_ = ++of_->changes_;
    }

   private:
    void check() const {
      if (of_->changes_ != expected_) throw ConcurrentModification();
    }
    Collection* of_;
    typename Container::iterator next_, last_;
    unsigned expected_;
  };

  void add(int item) {
    if (Traits::add(items_, item)) changes_++;
  }
  void remove(int item) {
    const auto found = Traits::find(items_, item);
    if (found == items_.end()) return;
    items_.erase(found);
    changes_++;
  }
  bool contains(int item) { return Traits::find(items_, item) != items_.end(); }

 private:
  Container items_;
  unsigned changes_ = 0;
};

template <class Unlocked>
class Synchronized {
 public:
  void add(int item) {
    std::lock_guard lock(mutex_);
    collection_.add(item);
  }
  void remove(int item) {
    std::lock_guard lock(mutex_);
    collection_.remove(item);
  }
  bool contains(int item) {
    std::lock_guard lock(mutex_);
    return collection_.contains(item);
  }

  // The other's lock is taken anew for each of its items: it can change in between.
  bool contains_all(Synchronized& other) {
    std::lock_guard lock(mutex_);
    auto items = other.iterator();
    while (items.has_next()) {
      std::lock_guard inner(other.mutex_);
      if (!collection_.contains(items.next())) return false;
    }
    return true;
  }

  // Here as well, through contains. What was removed by then belongs to no state of the other;
  // like an iterator, it says so.
  void remove_all(Synchronized& other) {
    std::lock_guard lock(mutex_);
    bool held = false, missing = false;
    for (auto items = typename Unlocked::Iterator(collection_); items.has_next();) {
      if (other.contains(items.next())) {
        items.remove();
        held = true;
      } else {
        missing = true;
      }
    }
    // The drivers let the other hold all of our items or none.
    if (held && missing) throw ConcurrentModification();
  }

  // To change many at once.
  template <class Change>
  void change(Change change) {
    std::lock_guard lock(mutex_);
    change(collection_);
  }

 private:
  typename Unlocked::Iterator iterator() {
    std::lock_guard lock(mutex_);
    return typename Unlocked::Iterator(collection_);
  }
  std::mutex mutex_;
  Unlocked collection_;
};

// Two collections, one that asks the other, and one that changes the other.
template <class Unlocked>
int drive() {
  Synchronized<Unlocked> one, two;
  const auto fill = [](auto& collection) {
    for (int i = 0; i < 4; i++) collection.add(i);
  };
  const auto clear = [](auto& collection) {
    for (int i = 0; i < 4; i++) collection.remove(i);
  };
  one.change(fill);
  two.change(fill);
  std::thread asks([&] { one.contains_all(two); });
  std::thread removes([&] { one.remove_all(two); });
  std::thread changes([&] {
    for (int i = 0; i < 3; i++) {
      two.change(clear);
      two.change(fill);
    }
  });
  asks.join();
  removes.join();
  changes.join();
  std::puts("ok");
  return 0;
}
