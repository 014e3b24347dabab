// An account, and two threads that each withdraw 30 twice, if there is enough (after Figure 1 of
// the AtomFuzzer paper). Every access to the balance holds the lock, so there is no data race. But
// the lock is given back between the look at the balance and the withdrawal: with 100 in the
// account, four withdrawals can succeed.
//
// FINDS: label=Account::withdraw_if_enough variable=account.balance_ at=look,withdraw
#include <cstdio>
#include <mutex>
#include <thread>

class Account {
 public:
  explicit Account(int balance) : balance_(balance) {}

  int balance() {
    std::lock_guard lock(mutex_);
    return balance_;  // @look
  }

  void withdraw(int amount) {
    std::lock_guard lock(mutex_);
    balance_ -= amount;  // @withdraw
  }

  bool withdraw_if_enough(int amount) {
    if (balance() < amount) return false;
    withdraw(amount);
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
