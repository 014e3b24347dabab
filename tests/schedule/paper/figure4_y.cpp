// Figure 4: the second thread asks first whether to withdraw; the answer is 'y'.
// WAY: instrumented
// PAPER: 1.00
// ARGS: y
#include "account.h"

int main(int, char** arguments) {
  const char answer = arguments[1][0];
  return in_two_threads([] { withdraw_70(); },
                        [answer] {
                          if (answer == 'y') withdraw_70();
                        });
}
