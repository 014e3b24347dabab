// Money moves between two accounts. Each step is locked.
// FINDS: label=transfer variable=.balance at=look,change
#include <functional>
#include <mutex>

#include "threads.h"

struct Account {
  std::mutex mutex;
  long balance = 1000;

  long look() {
    std::lock_guard lock(mutex);
    return balance;  // @look
  }
  void change(long amount) {
    std::lock_guard lock(mutex);
    balance += amount;  // @change
  }
};

Account savings;
Account checking;

bool transfer(Account& from, Account& to, long amount) {
#ifdef BAD
  if (from.look() < amount) return false;
  from.change(-amount);
  to.change(amount);
#else
  // Always in the same order, or the two threads could wait for each other.
  const bool in_order = std::less<>()(&from, &to);
  std::lock_guard first(in_order ? from.mutex : to.mutex);
  std::lock_guard second(in_order ? to.mutex : from.mutex);
  if (from.balance < amount) return false;
  from.balance -= amount;
  to.balance += amount;
#endif
  return true;
}

int main() {
  in_threads({[] { transfer(savings, checking, 10); }, [] { transfer(checking, savings, 20); }});
  return savings.look() + checking.look() == 2000 ? 0 : 1;
}
