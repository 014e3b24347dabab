// What ends a block: objects are destroyed and locks given back in the opposite order of their
// declarations, on every way out.
#include <mutex>

struct Account {
  std::mutex mutex;
  int balance = 0;
  int before_lock = 0;
  int under_lock = 0;
  int at_return = 0;
  int returned = 0;
  int handled = 0;
  int asked = 0;
};

struct BeforeLock {
  Account& account;
  ~BeforeLock() { ++account.before_lock; }
};
void before_lock(Account& account) {
  BeforeLock object{account};
  std::lock_guard lock(account.mutex);
  ++account.balance;
}

struct UnderLock {
  Account& account;
  ~UnderLock() { ++account.under_lock; }
};
void under_lock(Account& account) {
  std::lock_guard lock(account.mutex);
  UnderLock object{account};
  ++account.balance;
}
void under_told_lock(Account& account) {
  std::unique_lock lock(account.mutex);
  UnderLock object{account};
  lock.unlock();
  lock.lock();
}

struct AtReturn {
  Account& account;
  ~AtReturn() { ++account.at_return; }
};
int at_return(Account& account) {
  AtReturn object{account};
  std::lock_guard lock(account.mutex);
  return account.balance;
}
int under_lock_at_return(Account& account) {
  std::lock_guard lock(account.mutex);
  AtReturn object{account};
  return account.balance;
}

// Its destructor runs where it goes.
struct Returned {
  Account& account;
  ~Returned() { ++account.returned; }
};
Returned make_returned(Account& account) {
  Returned object{account};
  return object;
}
void end_returned(Account& account) {
  std::lock_guard lock(account.mutex);
  Returned object{account};
}

// What was thrown may have left the block between the two.
void handle(Account& account, bool fails) {
  std::unique_lock lock(account.mutex);
  try {
    lock.unlock();
    if (fails) throw 1;
    lock.lock();
  } catch (...) {
    ++account.handled;
  }
}
void handle_under_lock(Account& account) {
  std::lock_guard lock(account.mutex);
  ++account.handled;
}

// An answer that is changed says nothing any more.
void ask(Account& account, bool forced) {
  bool is_held = account.mutex.try_lock();
  if (forced) is_held = true;
  if (is_held) {
    ++account.asked;
    account.mutex.unlock();
  }
}
