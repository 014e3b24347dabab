// A thread pool whose tasks make tasks; results by futures; the pool is destroyed while idle.
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

#include "check.h"

class Pool {
 public:
  explicit Pool(int size) {
    for (int i = 0; i < size; i++) threads_.emplace_back([this] { work(); });
  }
  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (auto& thread : threads_) thread.join();
  }
  std::future<int> submit(std::function<int()> function) {
    auto task = std::make_shared<std::packaged_task<int()>>(std::move(function));
    auto result = task->get_future();
    {
      std::lock_guard lock(mutex_);
      tasks_.emplace([task] { (*task)(); });
    }
    changed_.notify_one();
    return result;
  }

 private:
  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      auto task = std::move(tasks_.front());
      tasks_.pop();
      lock.unlock();
      task();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::queue<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

int main() {
  Pool pool(3);
  std::vector<std::future<int>> results;
  for (int i = 0; i < 6; i++) {
    results.push_back(pool.submit([&pool, i] {
      pool.submit([] { return 0; });
      return i;
    }));
  }
  int sum = 0;
  for (auto& result : results) sum += result.get();
  CHECK(sum == 15);
  return ok();
}
