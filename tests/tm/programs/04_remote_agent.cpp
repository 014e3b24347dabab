// NASA Remote Agent: a task sets a value and, in another transaction, says that it is set.
#include <cstdio>
#include <thread>

struct Cell {
  int value = 0;
  bool achieved = false;
};

constexpr int kCells = 100;
Cell table[kCells];
int state[kCells];

void task(int v) {
#ifdef FIXED
  __transaction_atomic {
    table[42].value = v;
    table[42].achieved = true;
  }
#else
  __transaction_atomic { table[42].value = v; }
  __transaction_atomic { table[42].achieved = true; }
#endif
}

void daemon_() {
  for (int i = 0; i < kCells; ++i) {
    bool wrong = false;
    __transaction_atomic {
      if (table[i].achieved && state[i] != table[i].value) wrong = true;
    }
    if (wrong) std::printf("cell %d has been changed\n", i);
  }
}

int main() {
  std::thread daemon(daemon_);
  std::thread t1(task, 1);
  std::thread t2(task, 2);
  std::thread t3(task, 3);
  t1.join();
  t2.join();
  t3.join();
  daemon.join();
}
