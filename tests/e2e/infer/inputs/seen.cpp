// Accesses that are easily overlooked.
#include <mutex>

struct Level {
  long bytes = 0;
  long files = 0;
};
long make_limit();

class Table {
 public:
  // An object in an array, and what is called through a pointer.
  long bytes(int level) {
    std::lock_guard held(mutex_);
    return levels_[level].bytes + levels_[level].files;
  }
  void grow(int level) {
    std::lock_guard held(mutex_);
    levels_[level].bytes += 9;
    ++levels_[level].files;
  }
  void set_hooks(void (*before)(int), void (*after)(int)) {
    std::lock_guard held(mutex_);
    before_ = before;
    after_ = after;
  }
  void run() {
    std::lock_guard held(mutex_);
    (*before_)(1);
    after_(2);
  }

  // A function that is defined here and nowhere else.
  friend bool operator<(const Table& one, const Table& other) {
    std::lock_guard held(one.mutex_);
    return one.size_ < 7;
  }
  template <class Number>
  friend void resize(Table& table, Number to) {
    std::lock_guard held(table.mutex_);
    table.size_ = to;
  }
  int size() {
    std::lock_guard held(mutex_);
    return size_;
  }

 private:
  mutable std::mutex mutex_;
  Level levels_[7];
  void (*before_)(int) = nullptr;
  void (*after_)(int) = nullptr;
  int size_ = 0;
};

bool is_smaller(Table& one, Table& other) {
  resize(one, 3);
  return one < other;
}

// What a lambda takes along is taken where it is made; whoever has a pointer to a value may change
// it.
template <class Function>
void keep(Function&& function);
class Queue {
 public:
  void send() {
    std::lock_guard held(mutex_);
    keep([last = next_++, limit = limit_] { (void)(last + limit); });
  }
  void limit(int to) {
    std::lock_guard held(mutex_);
    limit_ = to;
  }
  int* mutable_open() { return &open_; }
  int open() const { return open_; }

 private:
  std::mutex mutex_;
  int next_ = 0;
  int limit_ = 0;
  int open_ = 0;
};

// Whoever has its address calls it without the lock, too.
std::mutex lock;
int counted = 0;
void count() { ++counted; }
void count_under_lock() {
  std::lock_guard held(lock);
  count();
}
struct Operations {
  void (*count)();
};
void give(Operations& to) { to.count = count; }

// What is made once is made by somebody.
int made = 0;
long make() { return ++made; }
long limit() {
  static const long kLimit = make();
  return kLimit;
}
