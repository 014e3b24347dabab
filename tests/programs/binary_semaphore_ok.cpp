// Two binary semaphores hand two variables back and forth: each wait needs the post of the other
// thread.
// FLAGS: -std=c++20
#include <semaphore>

#include "threads.h"

std::binary_semaphore empty(1);
std::binary_semaphore full(0);
int width;
int height;

void put(int size) {
  empty.acquire();
  width = size;
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
