// Double-Check: what was read is compared with what is there before anything is written. Correct.
#include <thread>

struct Shared {
  int field = 2;
};

Shared* shared = new Shared;

int get() {
  __transaction_atomic { return shared->field; }
}

bool update(int v, int f) {
  __transaction_atomic {
    if (v == shared->field) {
      shared->field = f;
      return true;
    }
    return false;
  }
}

void run() {
#ifdef FIXED
  __transaction_atomic {
    int v = get();
    update(v, v * v);
  }
#else
  bool done = false;
  do {
    int v = get();
    int f = v * v;
    done = update(v, f);
  } while (!done);
#endif
}

int main() {
  std::thread t1(run);
  std::thread t2(run);
  t1.join();
  t2.join();
}
