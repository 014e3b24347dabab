// A cache looks a value up under a shared lock and puts it in under an exclusive one, without
// looking again.
#include <map>
#include <mutex>
#include <shared_mutex>

#include "../suite/threads.h"

class Cache {
 public:
  int get(int key) {
    {
      std::shared_lock reading(mutex_);
      if (const auto at = values_.find(key); at != values_.end()) return at->second;
    }
    std::unique_lock writing(mutex_);
#ifdef FIXED
    if (const auto at = values_.find(key); at != values_.end()) return at->second;
#endif
    loads_++;
    return values_[key] = key * 2;
  }
  int loads() {
    std::shared_lock reading(mutex_);
    return loads_;
  }

 private:
  std::shared_mutex mutex_;
  std::map<int, int> values_;
  int loads_ = 0;
};

static Cache cache;

static void use() {
  for (int key : {1, 2}) assert(cache.get(key) == key * 2);
}

int main() {
  return run({use, use}, [] { assert(cache.loads() == 2); });
}
