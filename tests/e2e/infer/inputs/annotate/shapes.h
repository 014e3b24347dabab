// Declarations of all shapes, with locks of the standard library and no annotations.
#ifndef SHAPES_H
#define SHAPES_H

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

struct Sink {
  virtual ~Sink() = default;
  virtual int drain(int limit) const noexcept = 0;
};

struct Log {
  void add(int line) { lines_.push_back(line); }

 private:
  std::vector<int> lines_;
};

#define COUNTER(name) int name = 0

class Shapes : public Sink {
 public:
  explicit Shapes(Log* log) : log_(log) {}
  void set(int value);
  int drain(int limit) const noexcept override;
  auto first() -> int;
  bool wait();
  int peek() const {
    std::shared_lock<std::shared_mutex> hold(shared_);
    return seen_;
  }
  void see(int value) {
    std::unique_lock<std::shared_mutex> hold(shared_);
    seen_ = value;
  }
  void lock() { m_.lock(); }
  void unlock() { m_.unlock(); }
  void twice() {
    lock();
    sum_ += 2;
    unlock();
  }
  bool attempt();

 private:
  void step(int by);
  template <class T>
  void add_all(const T& all) {
    for (int one : all) sum_ += one;
  }

  // Declared before its guard.
  int sum_ = 0, last_{0};
  int table_[4] = {};
  unsigned flag_ : 1;
  int (*callback_)(int) = nullptr;
  COUNTER(made_by_macro_);
  Log* const log_;
  mutable std::mutex m_;
  std::condition_variable changed_;
  mutable std::shared_mutex shared_;
  int seen_ = 0;
};

struct Account {
  std::mutex mutex;
  long balance = 0;
};
void deposit(Account& account, long amount);
void transfer(Account* from, Account* to, long amount);

#endif
