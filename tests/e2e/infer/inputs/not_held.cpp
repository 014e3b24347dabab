// Ways on which a lock that seems to be held is not. Each field is written under the lock in put(),
// and without it elsewhere.
#include <mutex>
#include <utility>
#include <vector>

int ask();
void may_throw();

// Gives back what others took.
class Unlocker {
 public:
  explicit Unlocker(std::mutex& mutex) : mutex_(mutex) {}
  ~Unlocker() { mutex_.unlock(); }

 private:
  std::mutex& mutex_;
};

// Gives back what a guard holds, and takes it again in the end.
class Unlocked {
 public:
  explicit Unlocked(std::unique_lock<std::mutex>& lock) : lock_(lock) { lock_.unlock(); }
  ~Unlocked() { lock_.lock(); }

 private:
  std::unique_lock<std::mutex>& lock_;
};

// A guard that gives back its lock by another name.
class NamedLock {
 public:
  explicit NamedLock(std::mutex& mutex) : lock_(mutex) {}
  ~NamedLock() {
    if (lock_.owns_lock()) lock_.unlock();
  }
  void leave() { lock_.unlock(); }

 private:
  std::unique_lock<std::mutex> lock_;
};

class Ways {
 public:
  void put() {
    const std::lock_guard lock(m_);
    set_ = 1;
    swapped_ = 1;
    moved_ = 1;
    named_ = 1;
    asked_again_ = 1;
    given_back_ = 1;
    next_round_ = 1;
    left_switch_ = 1;
    fell_through_ = 1;
    jumped_ = 1;
    handled_ = 1;
    operand_ = 1;
    choice_ = 1;
    deferred_ = 1;
    unlocked_ = 1;
    opened_ = 1;
    left_ = 1;
    released_ = 1;
    by_mutex_ = 1;
  }
  void set() {
    std::unique_lock lock(m_);
    lock = std::unique_lock(other_);
    set_ = 2;
  }
  void swapped() {
    std::unique_lock lock(m_);
    {
      std::unique_lock inner(other_, std::defer_lock);
      inner.swap(lock);
    }
    swapped_ = 2;
  }
  void moved() {
    std::unique_lock lock(m_);
    std::vector<std::unique_lock<std::mutex>> all;
    all.push_back(std::move(lock));
    all.clear();
    moved_ = 2;
  }
  void named() {
    std::unique_lock lock(m_);
    auto& same = lock;
    same.unlock();
    named_ = 2;
  }
  void asked_again() {
    bool held = m_.try_lock();
    if (held) m_.unlock();
    held = ask();
    if (held) asked_again_ = 2;
  }
  void given_back() {
    const bool held = m_.try_lock();
    if (!held) return;
    m_.unlock();
    if (held) given_back_ = 2;
  }
  void next_round() {
    const bool held = m_.try_lock();
    while (ask()) {
      if (held) {
        next_round_ = 2;
        m_.unlock();
      }
    }
  }
  void left_switch(int how) {
    switch (how) {
      case 1:
        if (ask()) break;
        m_.lock();
        break;
      default: {
        if (ask()) break;
        m_.lock();
      }
    }
    left_switch_ = 2;
  }
  void fell_through(int how) {
    m_.lock();
    switch (how) {
      case 1:
        m_.unlock();
        [[fallthrough]];
      case 2:
      case 3:
        ask();
        [[fallthrough]];
      case 4:
        ask();
        [[fallthrough]];
      case 5:
        fell_through_ = 2;
        return;
    }
    m_.unlock();
  }
  void jumped() {
    if (ask()) goto out;
    m_.lock();
  out:
    jumped_ = 2;
  }
  void handled() {
    std::unique_lock lock(m_);
    try {
      lock.unlock();
      may_throw();
      lock.lock();
    } catch (...) {
      handled_ = 2;
    }
  }
  void operand() {
    if (ask() && (m_.lock(), ask())) ask();
    operand_ = 2;
  }
  void choice() {
    ask() ? m_.lock() : void();
    choice_ = 2;
  }
  void deferred() {
    auto lock = make();
    deferred_ = 2;
  }
  void unlocked() {
    const Unlocker lock(m_);
    unlocked_ = 2;
  }
  void opened() {
    std::unique_lock lock(m_);
    const Unlocked open(lock);
    opened_ = 2;
  }
  void left() {
    NamedLock lock(m_);
    lock.leave();
    left_ = 2;
  }

  void released() {
    std::unique_lock lock(m_);
    std::mutex* mine = lock.release();
    mine->unlock();
    released_ = 2;
  }
  void by_mutex() {
    std::unique_lock lock(m_);
    lock.mutex()->unlock();
    by_mutex_ = 2;
    lock.mutex()->lock();
  }

 private:
  std::unique_lock<std::mutex> make() { return std::unique_lock(m_, std::defer_lock); }

  std::mutex m_;
  std::mutex other_;
  int set_ = 0;
  int swapped_ = 0;
  int moved_ = 0;
  int named_ = 0;
  int asked_again_ = 0;
  int given_back_ = 0;
  int next_round_ = 0;
  int left_switch_ = 0;
  int fell_through_ = 0;
  int jumped_ = 0;
  int handled_ = 0;
  int operand_ = 0;
  int choice_ = 0;
  int deferred_ = 0;
  int unlocked_ = 0;
  int opened_ = 0;
  int left_ = 0;
  int released_ = 0;
  int by_mutex_ = 0;
};

// Where it is held, on all ways.
class Held {
 public:
  void put() {
    const std::lock_guard lock(m_);
    set_ = 1;
    swapped_ = 1;
    handled_ = 1;
    in_case_ = 1;
    jumped_ = 1;
    closed_ = 1;
  }
  void set() {
    std::unique_lock<std::mutex> lock;
    lock = std::unique_lock(m_);
    set_ = 2;
  }
  void swapped() {
    std::unique_lock lock(m_, std::defer_lock);
    std::unique_lock inner(m_);
    lock.swap(inner);
    swapped_ = 2;
  }
  void handled() {
    std::unique_lock lock(m_);
    try {
      lock.unlock();
      may_throw();
      lock.lock();
      handled_ = 2;
    } catch (...) {
      return;
    }
    handled_ = 3;
  }
  void in_case(int how) {
    switch (how) {
      case 1:
        if (ask()) break;
        m_.lock();
        in_case_ = 2;
        m_.unlock();
        break;
      default:
        break;
    }
  }
  void closed() {
    std::unique_lock lock(m_);
    if (ask()) {
      const Unlocked open(lock);
      ask();
    }
    closed_ = 2;
  }
  void jumped() {
    m_.lock();
    if (ask()) goto out;
    ask();
  out:
    jumped_ = 2;
    m_.unlock();
  }

 private:
  std::mutex m_;
  int set_ = 0;
  int swapped_ = 0;
  int handled_ = 0;
  int in_case_ = 0;
  int jumped_ = 0;
  int closed_ = 0;
};
