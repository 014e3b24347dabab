// Each element of an array is a variable of its own; threads that keep to their elements need no
// lock.
// FINDS: label=add_to_row variable=rows
#include "threads.h"

int rows[4][8];

void add_to_row(int row) {
  for (int& cell : rows[row]) cell += row + 1;
}

int main() {
#ifdef BAD
  in_threads({[] { add_to_row(0); }, [] { add_to_row(0); }});
#else
  in_threads({[] { add_to_row(0); }, [] { add_to_row(1); }, [] { add_to_row(2); }});
#endif
}
