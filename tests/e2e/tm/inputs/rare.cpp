#include <map>
#include <mutex>

struct Range {
  int low, high;
};

class Log {
 public:
  explicit Log(Range& range) : range_(range) { lines_ = 1; }
  void add() {
    std::lock_guard held(mutex_);
    auto [low, high] = range_;
    auto count = [&] { lines_ += high - low; };
    auto count_copies = [low, high] { return high - low; };
    count();
    lines_ += count_copies();
  }
  int lines() {
    std::lock_guard held(mutex_);
    return lines_;
  }

 private:
  std::mutex mutex_;
  Range& range_;  // a reference is not the object
  int lines_;
};

Range whole = {1, 9};
Log log(whole);
std::map<int, int> names = {{1, 2}};
int (*const twice)(int) = [](int n) { return 2 * n; };

void run() {
  log.add();
  for (;;) log.add();
}
int run_for_result() {
  run();
  return log.lines();
}
int never_comes_back() {
  const int result = run_for_result();
  const int more = result + twice(result);
  return more;
}
