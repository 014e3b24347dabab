// Coordinates'03: a pair that is read one half at a time. The fourth thread asks for both at once
// and takes its copy apart.
#include <cstdio>
#include <thread>

class Coordinates {
 public:
  void setXY(int x, int y) {
    __transaction_atomic {
      x_ = x;
      y_ = y;
    }
  }
  int getX() {
    __transaction_atomic { return x_; }
  }
  int getY() {
    __transaction_atomic { return y_; }
  }
  Coordinates getXY() {
    Coordinates copy;
    __transaction_atomic {
      copy.x_ = x_;
      copy.y_ = y_;
    }
    return copy;
  }

 private:
  int x_ = 0;
  int y_ = 0;
};

Coordinates c;

void use(int x) { std::printf("%d\n", x); }
void use(int x, int y) { std::printf("%d %d\n", x, y); }

void first() { c.setXY(1, 2); }

void second() { use(c.getX()); }

void third() {
#ifdef FIXED
  int x = 0;
  int y = 0;
  __transaction_atomic {
    x = c.getX();
    y = c.getY();
  }
#else
  int x = c.getX();
  int y = c.getY();
#endif
  use(x, y);
}

void fourth() {
  int x = c.getX();
  use(x);
  Coordinates d = c.getXY();
  x = d.getX();
  int y = d.getY();
  use(x, y);
}

int main() {
  std::thread t1(first);
  std::thread t2(second);
  std::thread t3(third);
  std::thread t4(fourth);
  t1.join();
  t2.join();
  t3.join();
  t4.join();
}
