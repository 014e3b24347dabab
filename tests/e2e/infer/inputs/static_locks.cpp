// Locks that are static in the class of a lock, and one of them defined nowhere: it is only spoken
// of.
#include <mutex>

struct __attribute__((capability("mutex"))) Role {
  static Role main;
  static std::mutex all;
};
struct __attribute__((scoped_lockable)) InMain {
  InMain() __attribute__((acquire_capability(Role::main)));
  ~InMain() __attribute__((release_capability()));
};

struct Counter {
  void add() {
    InMain role;
    std::lock_guard<std::mutex> lock(mutex);
    ++count;
  }
  int get() {
    std::lock_guard<std::mutex> lock(mutex);
    return count;
  }

 private:
  std::mutex mutex;
  int count = 0;
};

int changes;
void change() {
  std::lock_guard<std::mutex> lock(Role::all);
  ++changes;
}
int changed() {
  std::lock_guard<std::mutex> lock(Role::all);
  return changes;
}

void use(Counter& counter) {
  counter.add();
  counter.get();
}
