// std::condition_variable: a bounded buffer, two producers and two consumers.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "check.h"

class Buffer {
 public:
  void put(int item) {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [&] { return items_.size() < 2; });
    items_.push_back(item);
    not_empty_.notify_one();
  }
  int take() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [&] { return !items_.empty(); });
    const int item = items_.front();
    items_.pop_front();
    not_full_.notify_one();
    return item;
  }

 private:
  std::mutex mutex_;
  std::condition_variable not_full_, not_empty_;
  std::deque<int> items_;
};

int main() {
  Buffer buffer;
  int sums[2] = {};
  const auto produce = [&] {
    for (int i = 1; i <= 8; i++) buffer.put(i);
  };
  const auto consume = [&](int& sum) {
    for (int i = 0; i < 8; i++) sum += buffer.take();
  };
  std::thread p1(produce), p2(produce);
  std::thread c1([&] { consume(sums[0]); }), c2([&] { consume(sums[1]); });
  p1.join(), p2.join(), c1.join(), c2.join();
  CHECK(sums[0] + sums[1] == 72);
  return ok();
}
