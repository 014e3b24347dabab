// A lock-free stack of reused nodes: compare-and-swap does not see that the top went and came back.
#include <array>
#include <atomic>
#include <cstdint>

#include "threads.h"

struct Node {
  std::atomic<int> next = -1;
  std::atomic<int> owners = 0;
};

static std::array<Node, 3> nodes;
static std::atomic<std::uint64_t>
    top;  // index + 1 in the lower half; FIXED: a version in the upper

static int index_of(std::uint64_t word) { return static_cast<int>(word & 0xffffffff) - 1; }
static std::uint64_t word_of(int index, std::uint64_t before) {
#ifdef FIXED
  return ((before >> 32) + 1) << 32 | static_cast<std::uint64_t>(index + 1);
#else
  return static_cast<std::uint64_t>(index + 1) | (before & 0);
#endif
}

static void push(int node) {
  auto seen = top.load();
  do {
    nodes[node].next = index_of(seen);
  } while (!top.compare_exchange_strong(seen, word_of(node, seen)));
}

static int pop() {
  auto seen = top.load();
  for (;;) {
    const int node = index_of(seen);
    if (node < 0) return -1;
    if (top.compare_exchange_strong(seen, word_of(nodes[node].next, seen))) return node;
  }
}

static void work() {
  for (int i = 0; i < 2; i++) {
    const int one = pop(), two = pop();
    for (const int node : {one, two}) {
      if (node < 0) continue;
      assert(++nodes[node].owners == 1);  // nobody else has popped it
    }
    for (const int node : {one, two}) {
      if (node < 0) continue;
      nodes[node].owners--;
      push(node);
    }
  }
}

int main() {
  for (int i = 0; i < 3; i++) push(i);
  return run({work, work});
}
