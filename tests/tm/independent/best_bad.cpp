// The best so far: a better one can come between the look and the change.
#include <pthread.h>

static int best;

static void* search(void* seed) {
  int mine = *static_cast<int*>(seed);
  for (int i = 0; i < 100; ++i) {
    mine = (mine * 75 + 74) % 65537;
    if (__transaction_atomic(best) < mine) {
      __transaction_atomic { best = mine; }
    }
  }
  return nullptr;
}

int main() {
  int seeds[2] = {1, 2};
  pthread_t one;
  pthread_t other;
  pthread_create(&one, nullptr, search, &seeds[0]);
  pthread_create(&other, nullptr, search, &seeds[1]);
  pthread_join(one, nullptr);
  pthread_join(other, nullptr);
}
