// Figure 2: the second thread comes to its block late. The paper: an error with probability 1, by
// Algorithm 1 with less than 0.05.
// WAY: instrumented
// PAPER: 1.00
#include "account.h"

// Statements of the paper are transitions, at which threads are switched; here that are operations
// on a lock which nobody else uses.
static void f() {
  static std::mutex own;
  for (int i = 0; i < 3; i++) std::lock_guard lock(own);
}

int main() {
  return in_two_threads([] { withdraw_70(); },
                        [] {
                          for (int i = 0; i < 6; i++) f();
                          withdraw_70();
                        });
}
