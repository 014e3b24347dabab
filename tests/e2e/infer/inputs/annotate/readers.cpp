// Readers share a lock, and a function that they call needs no more.
#include <mutex>
#include <shared_mutex>

class Sums {
  friend int both(const Sums& sums);

 public:
  int twice() const {
    std::shared_lock<std::shared_mutex> hold(m_);
    return 2 * sum();
  }
  int once() const {
    std::shared_lock<std::shared_mutex> hold(m_);
    return sum();
  }
  void set(int first, int second) {
    std::unique_lock<std::shared_mutex> hold(m_);
    first_ = first;
    change(second);
  }
  void reset() {
    std::unique_lock<std::shared_mutex> hold(m_);
    first_ = 0;
    change(0);
  }

 private:
  int sum() const { return first_ + second_; }
  void change(int second) { second_ = second; }

  mutable std::shared_mutex m_;
  int first_ = 0;
  int second_ = 0;
};

int both(const Sums& sums) {
  std::shared_lock<std::shared_mutex> hold(sums.m_);
  return sums.first_ + sums.second_;
}
