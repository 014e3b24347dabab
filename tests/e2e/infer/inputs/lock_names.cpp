// Locks that are named in more than one way, or that have no name.
#include <array>
#include <memory>
#include <mutex>
#include <vector>

struct Account {
  std::mutex mutex;
  int by_other = 0;
  int by_result = 0;
  int through = 0;
  int kept = 0;
};
Account* find();

// Gives back what somebody has taken.
class Closer {
 public:
  explicit Closer(Account* account) : account_(account) {}
  void close() { account_->mutex.unlock(); }

 private:
  Account* account_;
};
Closer* closer();

void close_by_other(Account& account) {
  Closer closer(&account);
  account.mutex.lock();
  closer.close();
  ++account.by_other;
}
void close_by_result(Account& account) {
  account.mutex.lock();
  find()->mutex.unlock();
  ++account.by_result;
}
void close_through(Account& account) {
  account.mutex.lock();
  closer()->close();
  ++account.through;
}
void keep(Account& account) {
  std::lock_guard lock(account.mutex);
  ++account.kept;
}

// One lock of many, which nobody knows.
class Striped {
 public:
  void add(int i, int j) {
    std::lock_guard lock(locks_[i]);
    ++values_[j];
  }
  void count(int i) {
    std::lock_guard lock(owned_[i % owned_.size()].operator*());
    ++count_;
  }
  void change(int i) {
    std::unique_lock lock(of_array_[i]);
    ++changes_;
    lock.unlock();
    ++changes_;
  }

 private:
  std::array<std::mutex, 4> locks_;
  std::mutex of_array_[4];
  std::vector<std::unique_ptr<std::mutex>> owned_;
  int values_[4] = {};
  int count_ = 0;
  int changes_ = 0;
};

// Two functions call different things by one name.
struct Slot {
  std::mutex mutex;
  int used = 0;
};
struct Trace {
  std::mutex mutex;
  int parts = 0;
};
Slot* slot_of(int number);
Trace* trace_of(int number);
void add_part(int number) {
  Trace* found = trace_of(number);
  std::lock_guard lock(found->mutex);
  ++found->parts;
}
void use_slot(int number) {
  Slot* found = slot_of(number);
  std::lock_guard lock(found->mutex);
  ++found->used;
  add_part(number);
}
void use_slot_of(Slot* found) {
  std::lock_guard lock(found->mutex);
  add_part(found->used);
}
