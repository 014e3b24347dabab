// What C++23 has: `if consteval`, explicit objects, static operators, captured structured bindings.
#include <mutex>
#include <utility>

class Meter {
 public:
  // What is evaluated while compiling does not count.
  constexpr int add(int n) {
    if consteval {
      value_ += n;
    } else {
      std::lock_guard held(mutex_);
      value_ += n;
    }
    return n;
  }
  int value() {
    if !consteval {
      std::lock_guard held(mutex_);
      return value_;
    }
    return value_;
  }

  void count(this Meter& self) {
    std::lock_guard held(self.mutex_);
    ++self.counted_;
  }
  void count_twice() {
    std::lock_guard held(mutex_);
    counted_ += 2;
  }

  int spread(std::pair<int, int> over) {
    auto [low, high] = over;
    std::lock_guard held(mutex_);
    auto between = [&] { return spread_ += high - low; };
    auto twice = [](this auto self, int n) -> int { return n > 9 ? n : self(2 * n); };
    return between() + twice(low) + ([](int n) static { return n; })(high);
  }
  int last_spread() {
    std::lock_guard held(mutex_);
    return spread_;
  }

 private:
  std::mutex mutex_;
  int value_ = 0;
  int counted_ = 0;
  int spread_ = 0;
};
