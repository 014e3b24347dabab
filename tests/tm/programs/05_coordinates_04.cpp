// Coordinates'04: reset() sets a pair one half at a time.
#include <thread>

class Coord {
 public:
  void swap() {
    __transaction_atomic {
      int old = x_;
      x_ = y_;
      y_ = old;
    }
  }
  void resetX() {
    __transaction_atomic { x_ = 0; }
  }
  void resetY() {
    __transaction_atomic { y_ = 0; }
  }
  void reset() {
#ifdef FIXED
    __transaction_atomic {
      resetX();
      resetY();
    }
#else
    resetX();
    resetY();
#endif
  }

 private:
  int x_ = 1;
  int y_ = 2;
};

void run(Coord* coord) {
  coord->swap();
  coord->reset();
}

int main() {
  Coord coord;
  std::thread t1(run, &coord);
  std::thread t2(run, &coord);
  t1.join();
  t2.join();
}
