// BlockingBuffer of the paper's Table 1: who takes waits for something to take.
// PAPER: 0.64
#include <condition_variable>

#include "buffers.h"

class Blocking {
 public:
  void make_room(std::deque<int>&, std::unique_lock<std::mutex>&) {}
  void added() { changed_.notify_all(); }
  void await_item(std::deque<int>& items, std::unique_lock<std::mutex>& lock) {
    changed_.wait(lock, [&] { return !items.empty(); });
  }

 private:
  std::condition_variable changed_;
};

int main() { return drive<Blocking>(); }
