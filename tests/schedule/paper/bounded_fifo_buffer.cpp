// BoundedFifoBuffer of the paper's Table 1: refuses what there is no room for.
// PAPER: 0.73
#include "buffers.h"

class Bounded {
 public:
  void make_room(std::deque<int>& items, std::unique_lock<std::mutex>&) {
    if (items.size() >= 4) throw std::length_error("the buffer is full");
  }
  void added() {}
  void await_item(std::deque<int>&, std::unique_lock<std::mutex>&) {}
};

int main() { return drive<Bounded>(); }
