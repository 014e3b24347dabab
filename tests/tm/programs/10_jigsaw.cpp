// Jigsaw: a resource store may be closed between the question whether it is and the look-up.
#include <map>
#include <thread>

struct Entry {
  int key = 0;
};

class Store {
 public:
  bool checkClosed() {
    __transaction_atomic { return closed_; }
  }
  Entry* lookup(int k) {
    __transaction_atomic {
      Entry* found = entries_[k];
      if (found == nullptr) {
        found = new Entry;
        entries_[k] = found;
      }
      return found;
    }
  }
  void shutdown() {
    __transaction_atomic {
      entries_.clear();
      closed_ = true;
    }
  }
  Entry* load(int k) {
#ifdef FIXED
    __transaction_atomic {
      if (checkClosed()) return nullptr;
      return lookup(k);
    }
#else
    if (checkClosed()) return nullptr;
    return lookup(k);
#endif
  }

 private:
  bool closed_ = false;
  std::map<int, Entry*> entries_;
};

Store store;

void use(Entry* /*entry*/) {}

void run() {
  Entry* e = store.load(7);
  use(e);
  store.shutdown();
}

int main() {
  std::thread t1(run);
  std::thread t2(run);
  std::thread t3(run);
  t1.join();
  t2.join();
  t3.join();
}
