// A spin on an atomic that yields.
#include <atomic>
#include <thread>

#include "check.h"

int main() {
  std::atomic<int> turn = 0;
  const auto play = [&](int mine) {
    for (int i = 0; i < 5; i++) {
      while (turn.load() % 2 != mine) std::this_thread::yield();
      turn++;
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  CHECK(turn == 10);
  return ok();
}
