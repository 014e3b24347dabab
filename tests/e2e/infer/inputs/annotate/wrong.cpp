// One access breaks the discipline that the others keep.
#include <mutex>

class Account {
 public:
  void deposit(long amount) {
    std::lock_guard<std::mutex> hold(m_);
    balance_ += amount;
    ++changes_;
  }
  void withdraw(long amount) {
    std::lock_guard<std::mutex> hold(m_);
    balance_ -= amount;
    ++changes_;
  }
  void pay(Account& to, long amount) {
    std::scoped_lock hold(m_, to.m_);
    balance_ -= amount;
    to.balance_ += amount;
    balance_ += 0;
    to.balance_ += 0;
    balance_ += 0;
    to.balance_ += 0;
    balance_ += 0;
    to.balance_ += 0;
    balance_ += 0;
    to.balance_ += 0;
  }
  long balance() { return balance_; }

 private:
  std::mutex m_;
  long balance_ = 0;
  long changes_ = 0;
};

void use(Account& account) {
  account.deposit(1);
  account.balance();
}
