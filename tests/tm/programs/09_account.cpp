// Account: a deposit made of two transactions.
#include <thread>

class Account {
 public:
  int getBalance() {
    __transaction_atomic { return balance_; }
  }
  void setBalance(int balance) {
    __transaction_atomic { balance_ = balance; }
  }

 private:
  int balance_ = 0;
};

void deposit(Account& account, int n) {
#ifdef FIXED
  __transaction_atomic {
#endif
    int t = account.getBalance();
    t += n;
    account.setBalance(t);
#ifdef FIXED
  }
#endif
}

int main() {
  Account account;
  std::thread t1([&] { deposit(account, 1); });
  std::thread t2([&] { deposit(account, 2); });
  t1.join();
  t2.join();
}
