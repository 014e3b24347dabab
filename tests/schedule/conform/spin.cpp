// A spin on an atomic that does not yield: the one it waits for must come to run all the same.
#include <atomic>
#include <thread>

#include "check.h"

int main() {
  std::atomic<int> turn = 0;
  const auto play = [&](int mine) {
    for (int i = 0; i < 2; i++) {
      while (turn.load(std::memory_order_acquire) % 2 != mine) {
      }
      turn.fetch_add(1, std::memory_order_release);
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  CHECK(turn == 4);
  return ok();
}
