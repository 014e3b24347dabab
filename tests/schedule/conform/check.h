// For the programs of this folder, in C and in C++: a check that says what did not hold.
#ifndef TOMOS_TESTS_SCHEDULE_CHECK_H
#define TOMOS_TESTS_SCHEDULE_CHECK_H

#include <stdio.h>
#include <stdlib.h>

// The process ends at once: other threads may hold what a regular end needs.
#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      _Exit(1);                                                                 \
    }                                                                           \
  } while (0)

static inline int ok(void) {
  puts("ok");
  return 0;
}

#endif
