// Guards of a project's own without attributes: known by what they do.
#include <map>
#include <mutex>
#include <shared_mutex>

struct Account {
  std::mutex mutex;
  int by_part = 0;
  int by_base = 0;
  int by_owner = 0;
  int tried_first = 0;
  int perhaps = 0;
  int deferred = 0;
  int nested = 0;
  int several = 0;
  int between = 0;
  int if_logged = 0;
};

// Has a guard as a part.
template <class Mutex>
class Scope {
 public:
  explicit Scope(Mutex& mutex) : lock_(mutex) {}

 private:
  std::lock_guard<Mutex> lock_;
};
void part(Account& account) {
  Scope<std::mutex> scope(account.mutex);
  ++account.by_part;
}

// Is one, made for an object and not for its lock.
class Base : public std::unique_lock<std::mutex> {
 public:
  explicit Base(Account& account) : std::unique_lock<std::mutex>(account.mutex) {}
};
void base(Account& account) {
  Base base(account);
  ++account.by_base;
}

// Takes the lock of whom it keeps.
class OwnerLock {
 public:
  explicit OwnerLock(Account* account) : account_(account) {
    if (account_ != nullptr) account_->mutex.lock();
  }
  ~OwnerLock() {
    if (account_ != nullptr) account_->mutex.unlock();
  }

 private:
  Account* account_;
};
void owner(Account& account) {
  OwnerLock owner(&account);
  ++account.by_owner;
}

class TryFirstLock {
 public:
  explicit TryFirstLock(std::mutex* mutex) : mutex_(mutex) {
    if (!mutex_->try_lock()) {
      ++waits_;
      mutex_->lock();
    }
  }
  ~TryFirstLock() { mutex_->unlock(); }

 private:
  std::mutex* mutex_;
  int waits_ = 0;
};
void try_first(Account& account) {
  TryFirstLock scope(&account.mutex);
  ++account.tried_first;
}

// Takes the lock on one way only.
class PerhapsLock {
 public:
  PerhapsLock(std::mutex& mutex, bool takes) : mutex_(mutex), takes_(takes) {
    if (takes) mutex_.lock();
  }
  ~PerhapsLock() {
    if (takes_) mutex_.unlock();
  }

 private:
  std::mutex& mutex_;
  bool takes_;
};
void perhaps(Account& account, bool takes) {
  PerhapsLock scope(account.mutex, takes);
  ++account.perhaps;
}

// Takes it when it is told to.
class DeferredLock {
 public:
  explicit DeferredLock(Account& account) : lock_(account.mutex, std::defer_lock) {}
  void take() { lock_.lock(); }

 private:
  std::unique_lock<std::mutex> lock_;
};
void deferred(Account& account) {
  DeferredLock scope(account);
  ++account.deferred;
}

// One around another.
class Nested {
 public:
  explicit Nested(Account& account) : scope_(account.mutex) {}

 private:
  Scope<std::mutex> scope_;
};
void nested(Account& account) {
  Nested scope(account);
  ++account.nested;
}

// Gives back what it takes again.
class Unlocked {
 public:
  explicit Unlocked(std::mutex& mutex) : mutex_(mutex) { mutex_.unlock(); }
  ~Unlocked() { mutex_.lock(); }

 private:
  std::mutex& mutex_;
};
void around(Account& account) {
  std::lock_guard lock(account.mutex);
  ++account.nested;
  {
    Unlocked unlocked(account.mutex);
    ++account.between;
  }
  ++account.nested;
}

// That there is something else says nothing of the lock.
class LoggedLock {
 public:
  LoggedLock(std::mutex& mutex, const char* text) : mutex_(mutex), text_(text) {
    if (text != nullptr) mutex_.lock();
  }
  ~LoggedLock() {
    if (text_ != nullptr) mutex_.unlock();
  }

 private:
  std::mutex& mutex_;
  const char* text_;
};
void if_logged(Account& account, const char* text) {
  LoggedLock lock(account.mutex, text);
  ++account.if_logged;
}

struct Bank {
  std::mutex mutex;
  std::map<int, Account*> accounts;
  int changes = 0;
};
class Both {
 public:
  Both(Bank& bank, Account& account) : bank_(bank.mutex), account_(account.mutex) {}

 private:
  std::lock_guard<std::mutex> bank_;
  std::lock_guard<std::mutex> account_;
};
void both(Bank& bank, Account& account) {
  Both scope(bank, account);
  ++bank.changes;
  ++account.several;
}

// Readers.
class Table {
 public:
  int read() const {
    Reading reading(*this);
    return rows_;
  }
  void write() {
    std::lock_guard lock(mutex_);
    ++rows_;
  }
  // A write under a reader's lock.
  void write_wrongly() {
    Reading reading(*this);
    ++cells_;
  }

 private:
  class Reading {
   public:
    explicit Reading(const Table& table) : lock_(table.mutex_) {}

   private:
    std::shared_lock<std::shared_mutex> lock_;
  };
  mutable std::shared_mutex mutex_;
  int rows_ = 0;
  int cells_ = 0;
};

// Does more than that: an object like any other, whose fields and accesses are seen.
class Transaction {
 public:
  explicit Transaction(Bank& bank) : bank_(bank), lock_(bank.mutex) {}
  void commit() { ++bank_.changes; }

 private:
  Bank& bank_;
  std::unique_lock<std::mutex> lock_;
};
