// Figure 1: both threads withdraw if there is enough. The paper: an error with probability 1, by
// Algorithm 1 with 0.5.
// WAY: instrumented
// PAPER: 1.00
#include "account.h"

int main() {
  return in_two_threads([] { withdraw_70(); }, [] { withdraw_70(); });
}
