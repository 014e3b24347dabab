// Most locks of this program have attributes; some are of classes that have none.
#include <mutex>

#define HAS(attribute) __attribute__((attribute))

class HAS(capability("mutex")) Mutex {
 public:
  void lock() HAS(acquire_capability()) { mutex_.lock(); }
  void unlock() HAS(release_capability()) { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};
class OwnMutex : public Mutex {};

class Account {
 public:
  void deposit(int amount) {
    std::lock_guard<OwnMutex> lock(mutex_);
    balance_ += amount;
    ++deposits_;
  }
  int balance() {
    std::lock_guard<OwnMutex> lock(mutex_);
    return balance_ + deposits_;
  }

 private:
  OwnMutex mutex_;
  int balance_ = 0;
  int deposits_ = 0;
};

class Log {
 public:
  void add() {
    std::lock_guard<std::mutex> lock(mutex_);
    more();
  }
  int lines() {
    std::lock_guard<std::mutex> lock(mutex_);
    return lines_;
  }

 private:
  void more() { ++lines_; }
  std::mutex mutex_;
  int lines_ = 0;
};

Account account;
Log log;

int main() {
  account.deposit(4);
  log.add();
  return account.balance() + log.lines();
}
