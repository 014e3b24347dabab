#include <mutex>
#include <thread>

class Account {
 public:
  int get() {
    std::lock_guard<std::mutex> guard(m_);
    return balance_;
  }
  void set(int balance) {
    m_.lock();
    balance_ = balance;
    m_.unlock();
  }
  void merged(int n) {
    std::unique_lock<std::mutex> guard(m_);
    balance_ += n;
  }

 private:
  std::mutex m_;
  int balance_ = 0;
};

Account account;

void deposit(int n) { account.set(account.get() + n); }

void run() {
  deposit(1);
  account.merged(2);
}

int main() {
  std::thread one(run);
  std::thread two(run);
  one.join();
  two.join();
}
