// Two binary semaphores hand two variables back and forth. Prediction does not know what order they
// make.
// FINDS: label=put variable=width at=width
// FLAGS: -std=c++20
#include <semaphore>

#include "threads.h"

std::binary_semaphore empty(1);
std::binary_semaphore full(0);
int width;
int height;

void put(int size) {
  empty.acquire();
  width = size;  // @width
  height = size;
  full.release();
}

int take() {
  full.acquire();
  const int area = width * height;
  empty.release();
  return area;
}

static void produce() {
  for (int i = 0; i < 10; i++) put(i);
}
static void consume() {
  for (int i = 0; i < 10; i++) keep(take());
}

int main() { in_threads({produce, consume}); }
