// What the server has done.
#pragma once
#include <mutex>
#include <vector>

class Log {
 public:
  // Adds unless it is there: two steps, so not atomic.
  void add_once(int key);
  bool contains(int key) const;

 private:
  void add(int key);

  mutable std::mutex mutex_;
  std::vector<int> keys_;
};
