// An exception leaves a transaction. What the catcher does belongs to it if the catcher is the
// transaction, and is another one if not.
// FINDS: label=withdraw_or_note variable=account.refused_ at=refuse,note
#include <mutex>
#include <stdexcept>

#include "threads.h"

class Account {
 public:
  void withdraw(int amount) {
    std::lock_guard lock(mutex_);
    if (amount > balance_ + refused_) throw std::runtime_error("not enough");  // @refuse
    balance_ -= amount;
  }

  void note_refusal() {
    std::lock_guard lock(mutex_);
    refused_++;  // @note
  }

 private:
  std::mutex mutex_;
  int balance_ = 10;
  int refused_ = 0;
};

Account account;

#ifndef BAD
static
#endif
    void
    withdraw_or_note() {
  try {
    account.withdraw(1000);
  } catch (const std::runtime_error&) {
    account.note_refusal();
  }
}

int main() {
  in_threads({[] { withdraw_or_note(); }, [] { withdraw_or_note(); }});
}
