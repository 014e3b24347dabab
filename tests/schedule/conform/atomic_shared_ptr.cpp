// std::atomic<std::shared_ptr>, whose lock is a bit of its own, and std::weak_ptr races for the
// last use.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "check.h"

struct Counted {
  explicit Counted(int number) : value(number) { living++; }
  ~Counted() { living--; }
  int value;
  static inline std::atomic<int> living = 0;
};

int main() {
  {
    std::atomic<std::shared_ptr<Counted>> current(std::make_shared<Counted>(0));
    std::weak_ptr<Counted> first = current.load();
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; t++) {
      threads.emplace_back([&] {
        for (int i = 0; i < 4; i++) {
          auto seen = current.load();
          while (
              !current.compare_exchange_strong(seen, std::make_shared<Counted>(seen->value + 1))) {
          }
          if (const auto held = first.lock()) CHECK(held->value == 0);
        }
      });
    }
    for (auto& thread : threads) thread.join();
    CHECK(current.load()->value == 12);
  }
  CHECK(Counted::living == 0);
  return ok();
}
