// Local Variable: a value lives in a local between its transactions, and updates get lost.
#include <thread>

class Cell {
 public:
  int getValue() {
    __transaction_atomic { return n_; }
  }
  void setValue(int n) {
    __transaction_atomic { n_ = n; }
  }

 private:
  int n_ = 0;
};

static Cell* cell = new Cell;

void increment() {
#ifdef FIXED
  __transaction_atomic {
    int t = cell->getValue();
    t++;
    cell->setValue(t);
  }
#else
  int t = cell->getValue();
  t++;
  cell->setValue(t);
#endif
}

int main() {
  std::thread t1(increment);
  std::thread t2(increment);
  t1.join();
  t2.join();
}
