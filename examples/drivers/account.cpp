// tomos model --from-cpp examples/drivers/account.cpp                 every schedule is in order
// tomos model --from-cpp examples/drivers/account.cpp -- -DBROKEN     one is not
//
// Two threads withdraw from one account, if there is enough. Broken: whether there is enough is
// asked in a critical section of its own.
#include <mutex>
#include <thread>
#include <vector>

class Account {
 public:
  explicit Account(int balance) : balance_(balance) {}

  int balance() {
    const std::lock_guard lock(mutex_);
    return balance_;
  }

  void withdraw(int amount) {
    const std::lock_guard lock(mutex_);
    balance_ -= amount;
  }

  void withdraw_if_enough(int amount) {
#ifdef BROKEN
    if (balance() >= amount) withdraw(amount);
#else
    const std::lock_guard lock(mutex_);
    if (balance_ >= amount) balance_ -= amount;
#endif
  }

 private:
  std::mutex mutex_;
  int balance_;
};

int main() {
  Account account(20);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&account] { account.withdraw_if_enough(10); });
  }
  for (std::thread& thread : threads) thread.join();
}
