// Objects that are parts of what a lock guards, and a thread that everything runs in.
#include <memory>
#include <mutex>

class Stats {  // knows of no lock
 public:
  void add(int size) {
    ++count_;
    sum_ += size;
  }
  int mean() const { return count_ == 0 ? 0 : sum_ / count_; }

 private:
  int count_ = 0;
  int sum_ = 0;
};

class Index {
 public:
  void insert(int size) {
    std::lock_guard guard(lock_);
    stats_.add(size);
    newest_->add(size);
  }
  int mean() {
    std::lock_guard guard(lock_);
    return stats_.mean() + newest_->mean();
  }
  void renew() {
    std::lock_guard guard(lock_);
    stats_ = Stats();
    newest_ = std::make_unique<Stats>();
  }

 private:
  static inline std::mutex lock_;
  Stats stats_;
  std::unique_ptr<Stats> newest_;
};

class Own {
 public:
  void add(int size) { sum_ += size; }
  int mean() const { return sum_; }

 private:
  int sum_ = 0;
};

class Opener {  // takes the lock itself: what it guards is its own business
 public:
  void cancel();
  void begin();
  bool is_canceled();

 private:
  bool canceled_ = false;
};

class Store {
 public:
  void open() {
    std::lock_guard guard(lock_);
    opener_ = std::make_unique<Opener>();
  }
  void close() {
    std::lock_guard guard(lock_);
    opener_ = nullptr;
  }
  bool is_open() {
    std::lock_guard guard(lock_);
    return opener_ != nullptr;
  }
  static inline std::mutex lock_;

 private:
  std::unique_ptr<Opener> opener_;
};
void Opener::cancel() {
  std::lock_guard guard(Store::lock_);
  canceled_ = true;
}
void Opener::begin() {
  std::lock_guard guard(Store::lock_);
  canceled_ = false;
}
bool Opener::is_canceled() {
  std::lock_guard guard(Store::lock_);
  return canceled_;
}

class Log {
 public:
  void add(int size) {
    std::lock_guard guard(lock_);
    seen_.add(size);
    lines_.add(size);
    sum_ += size;
  }
  int lines() {
    std::lock_guard guard(lock_);
    return lines_.mean();
  }

 private:
  std::mutex lock_;
  Own seen_;  // which only one method uses
  Own lines_;
  int sum_ = 0;
};

// Was given the lock together with what it guards.
struct Pinned {
  Pinned(std::mutex* lock, Own* own) : lock_(lock), own_(own) {}
  void release() {
    std::lock_guard guard(*lock_);
    own_->add(-1);
    own_->add(-1);
  }

  std::mutex* const lock_;
  Own* const own_;
};

struct __attribute__((capability("role"))) Role {};
extern const Role main_thread;
void assert_main_thread() __attribute__((assert_capability(main_thread))) {}

class Window {
 public:
  void grow() {
    assert_main_thread();
    ++size_;
  }
  void shrink() {
    assert_main_thread();
    --size_;
  }

 private:
  int size_ = 0;
};

struct __attribute__((capability("mutex"))) Lock {
  void lock() __attribute__((acquire_capability()));
  void unlock() __attribute__((release_capability()));
};
extern Lock elsewhere;  // which other files acquire

class Table {
 public:
  void add() __attribute__((requires_capability(elsewhere))) { ++rows_; }
  void drop() __attribute__((requires_capability(elsewhere))) { --rows_; }

 private:
  int rows_ = 0;
};
