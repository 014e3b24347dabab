// A cache of squares: a miss is computed outside, and stored without asking whether somebody else
// has stored it meanwhile, so an entry can be counted twice.
#include <functional>
#include <map>
#include <thread>
#include <vector>

namespace {

class Cache {
 public:
  bool find(int key, long &value) {
    synchronized {
      const auto known = entries_.find(key);
      if (known == entries_.end()) return false;
      value = known->second;
    }
    return true;
  }
  void insert(int key, long value) {
    synchronized {
      entries_.emplace(key, value);
      ++size_;
    }
  }
  int size() {
    synchronized { return size_; }
  }

 private:
  std::map<int, long> entries_;
  int size_ = 0;
};

long square(Cache &cache, int n) {
  long result = 0;
  if (!cache.find(n, result)) {
    result = static_cast<long>(n) * n;
    cache.insert(n, result);
  }
  return result;
}

void work(Cache &cache) {
  for (int i = 0; i < 100; ++i) square(cache, i);
}

}  // namespace

int main() {
  Cache cache;
  std::vector<std::thread> pool;
  for (int i = 0; i < 3; ++i) pool.emplace_back(work, std::ref(cache));
  for (auto &one : pool) one.join();
  return cache.size();
}
