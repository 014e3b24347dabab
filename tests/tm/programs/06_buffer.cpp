// Buffer: a value is taken out, changed and put back. Correct: it was nobody else's meanwhile.
#include <thread>

class Buffer {
 public:
  int next() {
    __transaction_atomic {
      int v = cells_[head_ % kSize];
      head_ = head_ + 1;
      return v;
    }
  }
  void add(int v) {
    __transaction_atomic {
      cells_[tail_ % kSize] = v;
      tail_ = tail_ + 1;
    }
  }

 private:
  static constexpr int kSize = 64;
  int cells_[kSize] = {};
  int head_ = 0;
  int tail_ = 32;
};

Buffer buffer;

void run() {
  for (int i = 0; i < 100; ++i) {
#ifdef FIXED
    __transaction_atomic {
      int v = buffer.next();
      int f = v * v;
      buffer.add(f);
    }
#else
    int v = buffer.next();
    int f = v * v;
    buffer.add(f);
#endif
  }
}

int main() {
  std::thread t1(run);
  std::thread t2(run);
  std::thread t3(run);
  t1.join();
  t2.join();
  t3.join();
}
