// Two accounts are locked in the order in which they are named.
#include <mutex>

#include "../suite/threads.h"

struct Account {
  std::mutex mutex;
  int balance = 100;
};

static Account first, second;

static void transfer(Account& from, Account& to, int amount) {
#ifdef FIXED
  std::scoped_lock both(from.mutex, to.mutex);
#else
  std::lock_guard taken(from.mutex);
  std::lock_guard given(to.mutex);
#endif
  from.balance -= amount;
  to.balance += amount;
}

int main() {
  return run({[] { transfer(first, second, 10); }, [] { transfer(second, first, 20); }},
             [] { assert(first.balance + second.balance == 200); });
}
