// Allocate Vector: a free block is found in one transaction and taken in another.
#include <thread>

constexpr int kBlocks = 32;
char vec[kBlocks];

int getFree() {
  __transaction_atomic {
    for (int i = 0; i < kBlocks; ++i) {
      if (vec[i] == 0) return i;
    }
    return -1;
  }
}

bool markAllocated(int i) {
  __transaction_atomic {
    if (vec[i] != 0) return false;
    vec[i] = 1;
    return true;
  }
}

bool markFree(int i) {
  __transaction_atomic {
    if (vec[i] == 0) return false;
    vec[i] = 0;
    return true;
  }
}

int allocate() {
#ifdef FIXED
  __transaction_atomic {
    int r = getFree();
    if (r != -1) markAllocated(r);
    return r;
  }
#else
  int r = getFree();
  if (r != -1) markAllocated(r);
  return r;
#endif
}

void run() {
  int r[8];
  for (int i = 0; i < 8; ++i) r[i] = allocate();
  for (int i = 0; i < 8; ++i) {
    if (r[i] != -1) markFree(r[i]);
  }
}

int main() {
  std::thread t1(run);
  std::thread t2(run);
  t1.join();
  t2.join();
}
