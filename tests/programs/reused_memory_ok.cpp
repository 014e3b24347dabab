// Memory that one thread frees and another one gets is another variable. The blocks escape through
// a shared place, and are large, so that threads do not keep them for themselves.
#include <malloc.h>

#include <mutex>

#include "threads.h"

struct Block {
  int first = 0;
  int second = 0;
  char rest[5000] = {};
};

std::mutex mutex;
Block* latest;

void publish(Block* block) {
  std::lock_guard lock(mutex);
  latest = block;
}

void withdraw() {
  std::lock_guard lock(mutex);
  latest = nullptr;
}

void use(Block* block) {
  block->second = block->first + 1;
  block->first = block->second + 1;
}

static void work() {
  for (int i = 0; i < 200; i++) {
    auto* block = new Block;
    publish(block);
    use(block);
    withdraw();
    delete block;
  }
}

int main() {
  mallopt(M_ARENA_MAX, 1);
  in_threads({work, work});
}
