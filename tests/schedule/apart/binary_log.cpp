// A log is rotated: closed and opened again. A change that is made in between is not logged.
#include <mutex>

#include "../suite/threads.h"

class BinaryLog {
 public:
  void rotate() {
#ifdef FIXED
    std::lock_guard lock(mutex_);
    open_ = false;
    file_++;
    open_ = true;
#else
    close();
    open();
#endif
  }
  void append() {
    std::lock_guard lock(mutex_);
    if (open_) entries_++;
  }
  int entries() {
    std::lock_guard lock(mutex_);
    return entries_;
  }

 private:
  [[maybe_unused]] void close() {
    std::lock_guard lock(mutex_);
    open_ = false;
    file_++;
  }
  [[maybe_unused]] void open() {
    std::lock_guard lock(mutex_);
    open_ = true;
  }
  std::mutex mutex_;
  bool open_ = true;
  int file_ = 0;
  int entries_ = 0;
};

static BinaryLog binary_log;

static void change() {
  for (int i = 0; i < 3; i++) binary_log.append();
}

int main() {
  return run({change, [] { binary_log.rotate(); }, change},
             [] { assert(binary_log.entries() == 6); });
}
