// The account of the AtomFuzzer paper's Figures 1 to 4: each method is synchronised, together they
// are not.
#pragma once

#include <tomos/tomos.h>

#include <cassert>
#include <cstdio>
#include <mutex>
#include <thread>

class Account {
 public:
  int balance() {
    std::lock_guard lock(mutex_);
    return balance_;
  }
  void withdraw(int amount) {
    std::lock_guard lock(mutex_);
    balance_ -= amount;
    assert(balance_ >= 0);
  }

 private:
  std::mutex mutex_;
  int balance_ = 100;
};

inline Account account;

inline void withdraw_70() {
  TOMOS_ATOMIC("withdraw_70");
  if (account.balance() >= 70) account.withdraw(70);
}

// Threads begin in functions that are not atomic blocks.
template <class One, class Two>
int in_two_threads(One one, Two two) {
  std::thread first(one);
  std::thread second(two);
  first.join();
  second.join();
  std::puts("ok");
  return 0;
}
