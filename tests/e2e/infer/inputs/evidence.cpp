// What speaks for a guard though the class itself says little.
#include <memory>
#include <mutex>
#include <string>

// Only accessors touch the fields; who calls them holds the lock.
class Monitor {
 public:
  void stop() {
    std::lock_guard lock(m_);
    set_scheduled(false);
  }
  bool request() {
    std::lock_guard lock(m_);
    if (is_scheduled()) return true;
    set_scheduled(true);
    return false;
  }
  bool is_scheduled() const { return scheduled_; }
  void set_scheduled(bool to) { scheduled_ = to; }

 private:
  mutable std::mutex m_;
  bool scheduled_ = false;
};

// Knows its lock, but has none of its own: it is used under that of others.
class __attribute__((capability("mutex"))) Lock {
 public:
  void lock() __attribute__((acquire_capability()));
  void unlock() __attribute__((release_capability()));
};

class Condition {
 public:
  explicit Condition(Lock& lock) : lock_(lock) {}
  void signal() {
    ++signals_;
    lock_.unlock();
    lock_.lock();
  }
  int signals() const { return signals_; }

 private:
  Lock& lock_;
  int signals_ = 0;
};

class Catcher {
 public:
  Catcher() : changed_(std::make_unique<Condition>(lock_)) {}
  void halt() {
    lock_.lock();
    halted_ = true;
    changed_->signal();
    lock_.unlock();
  }
  bool halted() {
    lock_.lock();
    const bool now = halted_;
    changed_->signal();
    lock_.unlock();
    return now;
  }

 private:
  Lock lock_;
  std::unique_ptr<Condition> changed_;
  bool halted_ = false;
};

// An interface: who implements it has a lock. So whoever calls it under a lock need not.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual void run(int task) = 0;
};

class ThreadEngine : public Engine {
 public:
  void run(int task) override {
    std::lock_guard lock(m_);
    last_ = task;
  }
  int last() {
    std::lock_guard lock(m_);
    return last_;
  }

 private:
  std::mutex m_;
  int last_ = 0;
};

class Timer {
 public:
  explicit Timer(std::shared_ptr<Engine> engine) : engine_(std::move(engine)) {}
  void start() {
    std::lock_guard lock(m_);
    running_ = true;
    engine_->run(1);
  }
  void stop() {
    std::lock_guard lock(m_);
    if (running_) engine_->run(0);
    running_ = false;
  }

 private:
  std::mutex m_;
  std::shared_ptr<Engine> engine_;
  bool running_ = false;
};

// A part of a class that knows the global lock.
std::mutex all_code;

class Region {
 public:
  void grow(int by) {
    capacity_ += by;
    used_ += 1;
  }
  void shrink() {
    capacity_ -= used_;
    used_ = 0;
  }
  int capacity() const { return capacity_ + used_; }

 private:
  int capacity_ = 0;
  int used_ = 0;
};

class Cache {
 public:
  void add(int size) {
    std::lock_guard lock(all_code);
    region_.grow(size);
  }
  void collect() {
    std::lock_guard lock(all_code);
    if (region_.capacity() > 0) region_.shrink();
  }
  int size() {
    std::lock_guard lock(all_code);
    return region_.capacity();
  }

 private:
  Region region_;
};

// A lock that is made later, and that is given up in the end.
class Maps {
 public:
  static void begin() {
    lock_ = new std::mutex();
    std::lock_guard lock(*lock_);
    count_ = 0;
  }
  static void end() {
    {
      std::lock_guard lock(*lock_);
      count_ = 0;
    }
    delete lock_;
    lock_ = nullptr;
  }
  static void add() {
    std::lock_guard lock(*lock_);
    ++count_;
  }

 private:
  static std::mutex* lock_;
  static int count_;
};

std::mutex* Maps::lock_ = nullptr;
int Maps::count_ = 0;

int main() {
  Monitor monitor;
  monitor.request();
  monitor.stop();
  Catcher catcher;
  catcher.halt();
  auto engine = std::make_shared<ThreadEngine>();
  Timer timer(engine);
  timer.start();
  timer.stop();
  Cache cache;
  cache.add(1);
  cache.collect();
  Maps::begin();
  Maps::add();
  Maps::end();
  return catcher.halted() ? cache.size() : 0;
}
