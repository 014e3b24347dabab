// Guards that are given to somebody: by reference, who may give back the lock and take it again; by
// value, who gives it back in the end.
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

class Steps {
 public:
  void twice() {
    std::unique_lock lock(mutex_);
    between(lock);
  }
  void at_the_end() {
    std::unique_lock lock(mutex_);
    ++inside_;
    end(std::move(lock));
  }
  void at_once() { end(std::unique_lock(mutex_)); }
  void at_the_very_end() {
    std::unique_lock lock(mutex_);
    pass_on(std::move(lock));
  }
  void wait() {
    std::unique_lock lock(mutex_);
    wait_for_more(lock);
    ++inside_;
  }
  void by_lambda() {
    std::unique_lock lock(mutex_);
    const auto work = [this](std::unique_lock<std::mutex>& held) {
      held.unlock();
      ++in_lambda_;
      held.lock();
    };
    work(lock);
    ++inside_;
  }
  void captured() {
    std::unique_lock lock(mutex_);
    const auto work = [&] {
      lock.unlock();
      lock.lock();
    };
    ++inside_;
    work();
    ++inside_;
  }
  // Once with this lock and once with that: who knows.
  void one_of_two(bool which) {
    std::unique_lock lock(which ? mutex_ : other_);
    of_some(lock);
  }
  void first_of_two() {
    std::unique_lock lock(mutex_);
    of_two(lock);
  }
  void second_of_two() {
    std::unique_lock lock(other_);
    of_two(lock);
  }
  int get() {
    std::lock_guard lock(mutex_);
    return inside_ + after_;
  }

 private:
  void between(std::unique_lock<std::mutex>& lock) {
    ++inside_;
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
    ++inside_;
  }
  void end(std::unique_lock<std::mutex> lock) {
    ++inside_;
    if (inside_ > 4) return;
    lock.unlock();
    ++after_;
  }
  void pass_on(std::unique_lock<std::mutex>&& lock) {
    ++inside_;
    end(std::move(lock));
  }
  void wait_for_more(std::unique_lock<std::mutex>& lock) {
    changed_.wait(lock, [this] { return inside_ > 0; });
  }
  void of_some(std::unique_lock<std::mutex>& lock) {
    lock.unlock();
    lock.lock();
  }
  void of_two(std::unique_lock<std::mutex>& lock) {
    lock.unlock();
    lock.lock();
  }

  std::mutex mutex_;
  std::mutex other_;
  std::condition_variable changed_;
  int inside_ = 0;
  int after_ = 0;
  int in_lambda_ = 0;
};

// What overrides has the parameters of what it overrides.
class Worker {
 public:
  virtual ~Worker() = default;
  void run() {
    std::unique_lock lock(mutex_);
    work(lock);
  }

 protected:
  virtual void work(std::unique_lock<std::mutex>& lock) = 0;
  std::mutex mutex_;
  int rounds_ = 0;
};
class Counter : public Worker {
 public:
  void add() {
    std::lock_guard lock(mutex_);
    ++counted_;
    ++rounds_;
  }

 protected:
  void work(std::unique_lock<std::mutex>& lock) override {
    ++counted_;
    lock.unlock();
    ++unlocked_;
    lock.lock();
    ++rounds_;
  }

 private:
  int counted_ = 0;
  int unlocked_ = 0;
};

// The lock of what else is given, and a global one.
struct Shared {
  std::mutex mutex;
  int uses = 0;
};
static void use(Shared& shared, std::unique_lock<std::mutex>& lock) {
  ++shared.uses;
  lock.unlock();
  lock.lock();
}
std::mutex all;
int uses = 0;
static void use_all(std::unique_lock<std::mutex> lock) {
  ++uses;
  lock.unlock();
}

// A guard that holds its lock only sometimes, and a mutex that is told by its guard.
#define HAS(attribute) __attribute__((attribute))
class Held;
class HAS(capability("mutex")) Mutex {
 public:
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
  void unlock(Held& held) HAS(release_capability());

 private:
  std::mutex mutex_;
};
class HAS(scoped_lockable) Held {
 public:
  explicit Held(Mutex& mutex) HAS(acquire_capability(mutex)) : lock_(mutex.lock()) {}
  Held(Held&&) = default;
  ~Held() HAS(release_capability()) {}

 private:
  std::unique_lock<std::mutex> lock_;
};
class Session {
 public:
  void close() { end(std::unique_lock(control_, std::defer_lock)); }
  void close_now() {
    std::unique_lock lock(control_);
    ++ends_;
    end(std::move(lock));
  }
  void close_perhaps(bool now) {
    std::unique_lock lock(control_);
    ++ends_;
    if (now) end(std::move(lock));
  }
  void close_some_time(int when) {
    std::unique_lock lock(control_);
    switch (when) {
      case 1:
        end(std::move(lock));
        break;
      default:
        break;
    }
  }
  void try_first() {
    std::unique_lock lock(control_, std::try_to_lock);
    if (!lock.owns_lock()) lock.lock();
    ++ends_;
  }
  void open() {
    Held held(mutex_);
    ++opens_;
    opened(std::move(held));
  }
  void open_again() {
    Held held(mutex_);
    ++opens_;
  }

 private:
  void end(std::unique_lock<std::mutex> lock) {
    if (!lock.owns_lock()) lock.lock();
    ++ends_;
  }
  void opened(Held held) HAS(release_capability(mutex_)) {
    ++opens_;
    mutex_.unlock(held);
    ++opened_;
  }

  std::mutex control_;
  Mutex mutex_;
  int ends_ = 0;
  int opens_ = 0;
  int opened_ = 0;
};

// A guard that an object keeps is not followed: whoever tells it to unlock may do anything.
class Keeper {
 public:
  void both() {
    std::lock_guard lock(own_);
    ++kept_;
    held_.unlock();
    held_.lock();
    ++kept_;
  }

 private:
  std::mutex own_;
  std::unique_lock<std::mutex> held_{all};
  int kept_ = 0;
};

Steps steps;
Keeper keeper;
Session session;
Counter counter;
Shared shared;

int main() {
  std::thread other([] {
    steps.twice();
    counter.run();
  });
  steps.twice();
  steps.at_the_end();
  steps.at_once();
  steps.at_the_very_end();
  steps.wait();
  steps.by_lambda();
  steps.captured();
  steps.one_of_two(steps.get() > 4);
  steps.first_of_two();
  steps.second_of_two();
  counter.run();
  counter.add();
  {
    std::unique_lock lock(shared.mutex);
    use(shared, lock);
    ++shared.uses;
  }
  {
    std::unique_lock lock(all);
    ++uses;
    use_all(std::move(lock));
  }
  keeper.both();
  session.close();
  session.close_now();
  session.close_perhaps(steps.get() > 4);
  session.close_some_time(steps.get());
  session.try_first();
  session.open();
  session.open_again();
  other.join();
  return steps.get();
}
