#pragma once
#include <mutex>
struct S {
  std::mutex mutex;
  int changes = 0;
  Event last;
  void put();
  int get();
  int quick();
  int twice() {
    std::lock_guard<std::mutex> lock(mutex);
    return last.twice();
  }
};
