#include "shapes.h"

void Shapes::set(int value) {
  std::lock_guard<std::mutex> hold(m_);
  last_ = value;
  table_[value & 3] = value;
  flag_ = value > 0;
  if (callback_ != nullptr) callback_(value);
  callback_ = nullptr;
  made_by_macro_ = value;
  log_->add(value);
  step(value);
  changed_.notify_all();
}

void Shapes::step(int by) {
  sum_ += by;
  add_all(std::vector<int>{1, 2});
}

int Shapes::drain(int limit) const noexcept {
  std::scoped_lock hold(m_);
  return sum_ + last_ + table_[0] + static_cast<int>(flag_) + made_by_macro_ < limit ? 1 : 0;
}

auto Shapes::first() -> int {
  std::unique_lock<std::mutex> hold(m_, std::defer_lock);
  hold.lock();
  log_->add(1);
  return table_[0];
}

bool Shapes::wait() {
  std::unique_lock<std::mutex> hold(m_);
  changed_.wait(hold, [this] { return sum_ > 0; });
  return last_ > 0;
}

// What Clang cannot follow.
bool Shapes::attempt() {
  std::unique_lock<std::mutex> hold(m_, std::try_to_lock);
  if (!hold.owns_lock()) return false;
  ++sum_;
  return true;
}

static void change(Account& account, long amount) { account.balance += amount; }

void deposit(Account& account, long amount) {
  std::lock_guard<std::mutex> hold(account.mutex);
  change(account, amount);
}

void transfer(Account* from, Account* to, long amount) {
  std::scoped_lock both(from->mutex, to->mutex);
  change(*from, -amount);
  change(*to, amount);
}

static std::mutex calls_mutex;
static int calls = 0;
void call() {
  std::lock_guard<std::mutex> hold(calls_mutex);
  ++calls;
}
void call_twice() {
  std::lock_guard<std::mutex> hold(calls_mutex);
  calls += 2;
}
