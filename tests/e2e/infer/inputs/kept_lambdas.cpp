// Lambdas that are kept for later, and run by somebody who holds the lock.
#include <deque>
#include <functional>
#include <mutex>

void notify();

class Unlocked {
 public:
  explicit Unlocked(std::mutex& mutex) : mutex_(mutex) { mutex_.unlock(); }
  ~Unlocked() { mutex_.lock(); }

 private:
  std::mutex& mutex_;
};

class Dispatcher {
 public:
  void add() {
    std::scoped_lock lock(mutex_);
    ++added_;
    commands_.push_back([this] {
      Unlocked unlocked(mutex_);
      notify();
    });
  }
  void remove() {
    std::scoped_lock lock(mutex_);
    --added_;
  }
  void run() {
    std::scoped_lock lock(mutex_);
    while (!commands_.empty()) {
      auto command = std::move(commands_.front());
      commands_.pop_front();
      command();
    }
  }

 private:
  std::mutex mutex_;
  std::deque<std::function<void()>> commands_;
  int added_ = 0;
};
