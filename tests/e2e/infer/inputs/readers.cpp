// Every way to take a lock as a reader, and what may and may not be done under it.
#include <pthread.h>

#include <map>
#include <mutex>
#include <shared_mutex>
#include <vector>

// A guard of the project's own, without attributes.
class ReadGuard {
 public:
  explicit ReadGuard(std::shared_mutex& lock) : lock_(lock) { lock_.lock_shared(); }
  ~ReadGuard() { lock_.unlock_shared(); }

 private:
  std::shared_mutex& lock_;
};

class Cache {
 public:
  int get(int key) {
    std::shared_lock lock(mutex_);
    ++hits_;
    auto at = map_.find(key);
    return at == map_.end() ? 0 : at->second;
  }
  void put(int key, int value) {
    std::unique_lock lock(mutex_);
    map_[key] = value;
    order_.push_back(key);
    ++hits_;
  }
  void reset() {
    std::scoped_lock lock(mutex_);
    clear();
    order_.clear();
  }
  int size() {
    ReadGuard lock(mutex_);
    return static_cast<int>(map_.size() + order_.size());
  }
  void touch(int key) {
    ReadGuard lock(mutex_);
    order_.push_back(key);
  }
  void drop() {
    if (mutex_.try_lock_shared()) {
      clear();
      mutex_.unlock_shared();
    }
  }

 private:
  void clear() {
    map_.clear();
    hits_ = 0;
  }

  std::shared_mutex mutex_;
  std::map<int, int> map_;
  std::vector<int> order_;
  int hits_ = 0;
};

pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
int entries = 0;
int entry_count() {
  pthread_rwlock_rdlock(&table_lock);
  const int count = entries;
  pthread_rwlock_unlock(&table_lock);
  return count;
}
void add_entry() {
  pthread_rwlock_wrlock(&table_lock);
  ++entries;
  pthread_rwlock_unlock(&table_lock);
}
void remove_entry() {
  pthread_rwlock_wrlock(&table_lock);
  --entries;
  pthread_rwlock_unlock(&table_lock);
}
void lose_entry() {
  pthread_rwlock_rdlock(&table_lock);
  --entries;
  pthread_rwlock_unlock(&table_lock);
}
