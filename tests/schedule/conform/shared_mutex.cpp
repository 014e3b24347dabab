// std::shared_mutex with std::shared_lock: a cache that is read often and filled once per key.
#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "check.h"

class Cache {
 public:
  int square(int key) {
    {
      std::shared_lock lock(mutex_);
      if (const auto found = squares_.find(key); found != squares_.end()) return found->second;
    }
    std::unique_lock lock(mutex_);
    const auto [place, is_new] = squares_.try_emplace(key, key * key);
    if (is_new) filled_++;
    return place->second;
  }
  int filled() {
    std::shared_lock lock(mutex_);
    return filled_;
  }

 private:
  std::shared_mutex mutex_;
  std::map<int, int> squares_;
  int filled_ = 0;
};

int main() {
  Cache cache;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) {
    threads.emplace_back([&] {
      for (int key = 0; key < 6; key++) CHECK(cache.square(key) == key * key);
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(cache.filled() == 6);
  std::shared_mutex mutex;
  mutex.lock_shared();
  std::thread([&] {
    CHECK(mutex.try_lock_shared());
    mutex.unlock_shared();
    CHECK(!mutex.try_lock());
  }).join();
  mutex.unlock_shared();
  return ok();
}
