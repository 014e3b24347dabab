#include <stdio.h>
#include <tomos/tomos.h>

TOMOS_NOT_ATOMIC_FUNCTION int serve(int turns);

static int transfer(int amount) {
  TOMOS_ATOMIC("transfer");
  TOMOS_ATOMIC("inner");
  for (int i = 0; i < 3; i++) {
    TOMOS_NOT_ATOMIC;
    if (i == 1) break;
  }
  if (amount > 2) return 1;
  puts("more");
  return 0;
}
int serve(int turns) { return transfer(turns); }
int main(void) {
  transfer(3);
  serve(1);
  return 0;
}
