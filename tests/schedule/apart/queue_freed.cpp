// The queue is thrown away as soon as it is empty, while consumers may still look at it.
#include <deque>
#include <mutex>

#include "../suite/threads.h"

struct Queue {
  std::mutex mutex;
  std::deque<int> blocks = {1, 2};
  int consumers = 2;
  bool gone = false;
};

static Queue queue;

static void consume() {
  while (true) {
    std::lock_guard lock(queue.mutex);
    assert(!queue.gone);
    if (queue.blocks.empty()) {
      queue.consumers--;
      break;
    }
    queue.blocks.pop_front();
  }
}

static void finish() {
  for (bool finished = false; !finished; std::this_thread::yield()) {
    std::lock_guard lock(queue.mutex);
#ifdef FIXED
    finished = queue.consumers == 0;
#else
    finished = queue.blocks.empty();
#endif
    queue.gone = finished;
  }
}

int main() { return run({consume, consume, finish}); }
