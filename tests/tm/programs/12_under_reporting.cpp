// Under-reporting: the counter is doubled by two calls of one transaction.
#include <thread>

class Counter {
 public:
  int inc(int a) {
    __transaction_atomic {
      i_ += a;
      return i_;
    }
  }

 private:
  int i_ = 1;
};

Counter counter;

void run() {
#ifdef FIXED
  __transaction_atomic {
    int v = counter.inc(0);
    counter.inc(v);
  }
#else
  int v = counter.inc(0);
  counter.inc(v);
#endif
}

int main() {
  std::thread t1(run);
  std::thread t2(run);
  t1.join();
  t2.join();
}
