// A gate that opens when two have come, and counts what passed it.
// FINDS: label=Gate::note variable=gate.passed_ at=look,note
#include <condition_variable>
#include <mutex>

#include "threads.h"

class Gate {
 public:
  void meet() {
    std::unique_lock lock(mutex_);
    came_++;
    opened_.notify_all();
    opened_.wait(lock, [this] { return came_ >= 2; });
  }

  int passed() {
    std::lock_guard lock(mutex_);
    return passed_;  // @look
  }

  void note() {
#ifdef BAD
    const int before = passed();
    std::lock_guard lock(mutex_);
#else
    std::lock_guard lock(mutex_);
    const int before = passed_;
#endif
    passed_ = before + 1;  // @note
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  int came_ = 0;
  int passed_ = 0;
};

Gate gate;

static void work() {
  gate.meet();
  gate.note();
}

int main() { in_threads({work, work}); }
