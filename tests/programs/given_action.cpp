// A function that runs what it is given, under its lock or after it.
// FINDS: label=Account::deposit clang:variable=account.balance_ at=look,store
#include <mutex>
#include <thread>

class Account {
 public:
  void deposit(long amount) {
    locked([&] {
      const long before = balance_;  // @look
      balance_ = before + amount;    // @store
    });
  }

 private:
  template <class Action>
  void locked(const Action& action) {
    std::unique_lock lock(mutex_);
#ifdef BAD
    lock.unlock();
#endif
    action();
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
