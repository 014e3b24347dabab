// The buffers of Apache Commons in the AtomFuzzer paper's Table 1: each operation locks, but what
// goes through all items of another buffer does so item by item.
#pragma once

#include <cstdio>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>

struct BufferUnderflow : std::logic_error {
  BufferUnderflow() : logic_error("the buffer is empty") {}
};

// Policy: what to do when there is no room, or nothing to take.
template <class Policy>
class Buffer {
 public:
  void add(int item) {
    std::unique_lock lock(mutex_);
    policy_.make_room(items_, lock);
    items_.push_back(item);
    policy_.added();
  }
  int remove() {
    std::unique_lock lock(mutex_);
    policy_.await_item(items_, lock);
    if (items_.empty()) throw BufferUnderflow();
    const int item = items_.front();
    items_.pop_front();
    return item;
  }
  std::size_t size() {
    std::lock_guard lock(mutex_);
    return items_.size();
  }
  int get(std::size_t index) {
    std::lock_guard lock(mutex_);
    if (index >= items_.size()) throw BufferUnderflow();
    return items_[index];
  }

  bool contains_all(Buffer& other) {
    std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < other.size(); i++) {
      const int item = other.get(i);
      bool found = false;
      for (const int mine : items_) found = found || mine == item;
      if (!found) return false;
    }
    return true;
  }

 private:
  std::mutex mutex_;
  std::deque<int> items_;
  Policy policy_;
};

template <class Policy>
int drive() {
  Buffer<Policy> one, two;
  for (int i = 0; i < 3; i++) one.add(i);
  for (int i = 0; i < 3; i++) two.add(i);
  std::thread asks([&] { one.contains_all(two); });
  std::thread takes([&] {
    for (int i = 0; i < 3; i++) two.remove();
  });
  asks.join();
  takes.join();
  std::puts("ok");
  return 0;
}
