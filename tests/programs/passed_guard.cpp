// A guard that is given to a function, which gives back the lock in between.
// FINDS: label=Account::deposit clang:variable=account.balance_ at=look,store
#include <mutex>
#include <thread>

class Account {
 public:
  void deposit(long amount) {
    std::unique_lock lock(mutex_);
    const long before = balance_;  // @look
    pay_fee(lock);
    balance_ = before + amount;  // @store
  }

 private:
  void pay_fee([[maybe_unused]] std::unique_lock<std::mutex>& lock) {
#ifdef BAD
    lock.unlock();
    lock.lock();
#endif
  }

  std::mutex mutex_;
  long balance_ = 0;
};

Account account;

int main() {
  std::thread first([] { account.deposit(1); });
  std::thread second([] { account.deposit(2); });
  first.join();
  second.join();
}
