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

// Other ways to hold a mutex: each mistake with a twin that has none.
std::mutex m;
std::mutex other;
std::recursive_mutex again;
int tried, condition, returned, adopted, several, own, passed, nested;

void bad_try(int n) {
  std::unique_lock<std::mutex> lock(m, std::defer_lock);
  if (!lock.try_lock()) return;
  const int have = tried;
  lock.unlock();
  if (m.try_lock()) {
    tried = have + n;
    m.unlock();
  }
}
void ok_try(int n) {
  if (std::unique_lock lock(m, std::try_to_lock); lock.owns_lock()) tried = tried + n;
}

void bad_condition(int n) {
  bool enough = false;
  if (std::lock_guard guard(m); condition > n) enough = true;
  if (std::lock_guard guard(m); enough) condition -= n;
}
void ok_condition(int n) {
  if (std::lock_guard guard(m); condition > n) condition -= n;
}

std::unique_lock<std::mutex> acquire() { return std::unique_lock<std::mutex>(m); }
void bad_returned(int n) {
  auto lock = acquire();
  const int have = returned;
  lock.unlock();
  auto later = acquire();
  returned = have + n;
}
void ok_returned(int n) {
  auto lock = acquire();
  const int have = returned;
  returned = have + n;
}

void bad_adopted(int n) {
  m.lock();
  int have = 0;
  {
    std::lock_guard guard(m, std::adopt_lock);
    have = adopted;
  }
  std::lock(m, other);
  std::lock_guard one(m, std::adopt_lock);
  std::lock_guard two(other, std::adopt_lock);
  adopted = have + n;
}
void ok_adopted(int n) {
  m.lock();
  std::lock_guard guard(m, std::adopt_lock);
  adopted = adopted + n;
}

void bad_several(int n) {
  int have = 0;
  {
    std::scoped_lock guard(m, other);
    have = several;
  }
  std::scoped_lock guard(other, m);
  several = have + n;
}

class Guard {
 public:
  explicit Guard(std::mutex& of) : of_(of) { of_.lock(); }
  ~Guard() { of_.unlock(); }

 private:
  std::mutex& of_;
};
void bad_own(int n) {
  int have = 0;
  {
    Guard guard(m);
    have = own;
  }
  Guard guard(m);
  own = have + n;
}
bool ok_own(int n) {
  Guard guard(m);
  if (own < n) return false;
  own = own - n;
  return true;
}

void pause(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  lock.lock();
}
void bad_passed(int n) {
  std::unique_lock<std::mutex> lock(m);
  const int have = passed;
  pause(lock);
  passed = have + n;
}

int get() {
  std::lock_guard guard(again);
  return nested;
}
void ok_nested(int n) {
  std::lock_guard guard(again);
  const int have = get();
  nested = have + n;
}

void run() {
  deposit(1);
  account.merged(2);
  bad_try(1);
  ok_try(1);
  bad_condition(1);
  ok_condition(1);
  bad_returned(1);
  ok_returned(1);
  bad_adopted(1);
  ok_adopted(1);
  bad_several(1);
  bad_own(1);
  ok_own(1);
  bad_passed(1);
  ok_nested(1);
}

int main() {
  std::thread one(run);
  std::thread two(run);
  one.join();
  two.join();
}
