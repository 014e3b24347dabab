// A guard of the program's own that takes its lock on one way only.
// FINDS: label=Account::deposit clang:variable=account.balance_ at=look,store
#include <mutex>
#include <thread>

class MaybeLocked {
 public:
  MaybeLocked(std::mutex& mutex, bool takes) : mutex_(mutex), takes_(takes) {
    if (takes_) mutex_.lock();
  }
  ~MaybeLocked() {
    if (takes_) mutex_.unlock();
  }

 private:
  std::mutex& mutex_;
  bool takes_;
};

class Account {
 public:
  explicit Account(bool is_shared) : is_shared_(is_shared) {}
  void deposit(long amount) {
    MaybeLocked lock(mutex_, is_shared_);
    const long before = balance_;  // @look
    balance_ = before + amount;    // @store
  }

 private:
  std::mutex mutex_;
  const bool is_shared_;
  long balance_ = 0;
};

#ifdef BAD
Account account(false);
#else
Account account(true);
#endif

int main() {
  std::thread first([] { account.deposit(1); });
  std::thread second([] { account.deposit(2); });
  first.join();
  second.join();
}
