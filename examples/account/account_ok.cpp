// The repaired account: the lock is held from the look at the balance to the withdrawal.
//
// PRINTS: 10 left in the account
#include <cstdio>
#include <mutex>
#include <thread>

class Account {
 public:
  explicit Account(int balance) : balance_(balance) {}

  int balance() {
    std::lock_guard lock(mutex_);
    return balance_;
  }

  bool withdraw_if_enough(int amount) {
    std::lock_guard lock(mutex_);
    if (balance_ < amount) return false;
    balance_ -= amount;
    return true;
  }

 private:
  std::mutex mutex_;
  int balance_;
};

Account account(100);

int main() {
  auto customer = [] {
    account.withdraw_if_enough(30);
    account.withdraw_if_enough(30);
  };
  std::thread first(customer);
  std::thread second(customer);
  first.join();
  second.join();
  std::printf("%d left in the account\n", account.balance());
}
