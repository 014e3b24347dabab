// Over-reporting: no transactions need to be merged, but init_done is read outside of them.
#include <thread>

class Map {
 public:
  void init() {
#ifdef FIXED
    __transaction_atomic {
      if (!init_done_) fill();
    }
#else
    if (!init_done_) {
      __transaction_atomic { fill(); }
    }
#endif
  }
  int get(int k) {
    __transaction_atomic {
      for (int i = 0; i < kSize; ++i) {
        if (keys_[i] == k) return values_[i];
      }
      return -1;
    }
  }

 private:
  static constexpr int kSize = 16;
  void fill() {
    for (int i = 0; i < kSize; ++i) {
      keys_[i] = i;
      values_[i] = i * i;
    }
    init_done_ = true;
  }
  int keys_[kSize] = {};
  int values_[kSize] = {};
  bool init_done_ = false;
};

Map map;

void run(int k) {
  map.init();
  map.get(k);
}

int main() {
  std::thread t1(run, 1);
  std::thread t2(run, 2);
  t1.join();
  t2.join();
}
