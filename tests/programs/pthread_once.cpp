// A table that is built when first needed: by pthread_once, or by a home-made flag.
// FINDS: label=square variable=built
#include <pthread.h>

#include "threads.h"

int table[10];
[[maybe_unused]] bool built;
[[maybe_unused]] pthread_once_t once = PTHREAD_ONCE_INIT;

static void build() {
  for (int i = 0; i < 10; i++) table[i] = i * i;
}

int square(int i) {
#ifdef BAD
  if (!built) build();
  built = true;
#else
  pthread_once(&once, build);
#endif
  return table[i];
}

int main() {
  in_threads({[] { square(3); }, [] { square(4); }});
}
