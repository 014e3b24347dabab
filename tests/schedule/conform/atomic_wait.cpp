// C++20 atomic waits: std::atomic::wait, std::atomic_ref, std::atomic_flag.
#include <atomic>
#include <thread>

#include "check.h"

int main() {
  std::atomic<int> turn = 0;
  std::atomic<long long> wide = 0;
  std::atomic_flag ready;
  int waited = 0;
  const auto play = [&](int mine) {
    for (int i = 0; i < 5; i++) {
      for (int seen = turn; seen % 2 != mine; seen = turn) turn.wait(seen);
      turn++;
      turn.notify_all();
    }
  };
  std::thread other([&] {
    play(1);
    ready.wait(false);
    wide.store(1LL << 40);
    wide.notify_one();
    std::atomic_ref<int> reference(waited);
    reference.store(7);
    reference.notify_all();
  });
  play(0);
  ready.test_and_set();
  ready.notify_one();
  wide.wait(0);
  CHECK(wide == 1LL << 40);
  std::atomic_ref<int>(waited).wait(0);
  other.join();
  CHECK(turn == 10 && waited == 7);
  return ok();
}
