// Detached threads; main waits for them by a condition variable, and no join orders anything.
// FINDS: label=Counter::add_if_room variable=counter.count_ at=look,add
#include <condition_variable>
#include <mutex>
#include <thread>

class Counter {
 public:
  int look() {
    std::lock_guard lock(mutex_);
    return count_;  // @look
  }
  void add_if_room() {
#ifdef BAD
    const bool room = look() < 10;
    std::lock_guard lock(mutex_);
#else
    std::lock_guard lock(mutex_);
    const bool room = count_ < 10;
#endif
    if (room) count_++;  // @add
  }
  void finish() {
    std::lock_guard lock(mutex_);
    finished_++;
    all_finished_.notify_all();
  }
  void wait_for(int threads) {
    std::unique_lock lock(mutex_);
    all_finished_.wait(lock, [&] { return finished_ == threads; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_finished_;
  int count_ = 0;
  int finished_ = 0;
};

Counter counter;

int main() {
  for (int i = 0; i < 3; i++)
    std::thread([] {
      counter.add_if_room();
      counter.finish();
    }).detach();
  counter.wait_for(3);
  return counter.look() == 3 ? 0 : 1;
}
