// Figure 3: one lock around both blocks. There is nothing to find.
// WAY: instrumented
// PAPER: 0.00
#include "account.h"

static std::mutex outer;

static void withdraw_under_lock() {
  TOMOS_ATOMIC("withdraw_under_lock");
  std::lock_guard lock(outer);
  if (account.balance() >= 70) account.withdraw(70);
}

int main() {
  return in_two_threads([] { withdraw_under_lock(); }, [] { withdraw_under_lock(); });
}
