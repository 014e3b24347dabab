// One mistake, and much that calls it.
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

std::atomic<int> log_level{0};
inline bool logs() { return log_level.load() > 1; }

struct Algorithm {
  virtual ~Algorithm() = default;
  virtual void initialise() {}
  virtual int prepare() = 0;
};

class Contrast : public Algorithm {
 public:
  // The callers of Algorithm::initialise know of no lock.
  void initialise() override { status_ = 3; }
  int prepare() override {
    std::lock_guard lock(mutex_);
    return status_ + steps_;
  }
  void process(int value) {
    std::lock_guard lock(mutex_);
    status_ += value;
    status_ *= 2;
    status_ -= steps_;
    if (status_ < 0) ++status_;
    ++steps_;
  }
  void reset() {
    std::lock_guard lock(mutex_);
    status_ /= 2;
    status_ &= 7;
    if (status_ > steps_) --status_;
    steps_ = 0;
  }
  bool is_new() {
    std::lock_guard lock(mutex_);
    return status_ == 0 || status_ < steps_ || status_ > 5;
  }
  // Two critical sections, about one thing.
  void restart() {
    reset();
    process(1);
  }
  // What the log reads has nothing to do with it.
  void tell() {
    if (logs()) return;
    reset();
  }

 private:
  std::mutex mutex_;
  int status_ = 0;
  int steps_ = 0;
};

class Controller {
 public:
  void initialise() {
    for (auto& algorithm : algorithms_) algorithm->initialise();
  }
  void run() { initialise(); }
  std::vector<std::unique_ptr<Algorithm>> algorithms_;
};

// Entries need the lock of the policy that they lead to. Here they are elements, without a name,
// and those who call hold it.
class Policy {
 public:
  class Entry {
   public:
    explicit Entry(Policy& policy) : policy_(policy) {}
    void mark() {
      ++uses_;
      ++policy_.total_;
    }
    void bump() { ++policy_.total_; }
    int uses() const { return uses_; }

   private:
    Policy& policy_;
    int uses_ = 0;
  };
  void touch() {
    std::lock_guard lock(mutex_);
    mark_all();
  }
  void add() {
    std::lock_guard lock(mutex_);
    entries_.push_back(std::make_unique<Entry>(*this));
    entries_.back()->mark();
  }
  // Perhaps it is the entry of another policy: this is not proved to be atomic.
  void bump() {
    std::lock_guard lock(mutex_);
    entries_.front()->bump();
  }
  int count() {
    std::lock_guard lock(mutex_);
    int sum = total_;
    for (auto& entry : entries_) sum += entry->uses();
    return sum;
  }

 private:
  void mark_all() {
    for (auto& entry : entries_) entry->mark();
  }
  std::mutex mutex_;
  int total_ = 0;
  std::vector<std::unique_ptr<Entry>> entries_;
};

int main() {
  Controller controller;
  controller.algorithms_.push_back(std::make_unique<Contrast>());
  std::thread other([&] { controller.run(); });
  other.join();
  controller.run();
  Policy policy;
  std::thread third([&] { policy.touch(); });
  policy.add();
  third.join();
  return policy.count();
}
