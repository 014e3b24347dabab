// All that std::barrier, std::latch and std::counting_semaphore can do. What the threads share is
// protected by these alone; the bad one goes on before the others have come.
// FLAGS: -std=c++20
// FINDS: label=Survey::measure variable=survey.heights_ at=measure,compare
// PRINTS: sum 11
#include <barrier>
#include <chrono>
#include <cstdio>
#include <latch>
#include <semaphore>

#include "threads.h"

class Survey {
 public:
  void measure(int mine) {
    heights_[mine] += mine + 1;  // @measure
#ifndef BAD
    phase_.wait(phase_.arrive());
#endif
    keep(heights_[0] < heights_[1]);  // @compare
    phase_.arrive_and_wait();
  }
  void give_up() { phase_.arrive_and_drop(); }
  int rounds() const { return rounds_; }

 private:
  struct Count {  // what the last to arrive does while all others wait
    int* rounds;
    void operator()() noexcept { ++*rounds; }
  };
  int heights_[2] = {};
  int rounds_ = 0;
  std::barrier<Count> phase_{2, Count{&rounds_}};
};

Survey survey;
std::latch started(3);
std::counting_semaphore<4> reports(0);
std::binary_semaphore turn(1);
int sum;

static void report(int amount) {
  using namespace std::chrono_literals;
  if (!turn.try_acquire()) {
    while (!turn.try_acquire_for(1ms)) {
    }
  }
  sum += amount;
  turn.release();
  reports.release(2);
}

static void work(int mine) {
  started.arrive_and_wait();
  survey.measure(mine);
  if (mine == 1) survey.give_up();
  report(5 + mine);
}

int main() {
  in_threads({[] { work(0); }, [] { work(1); },
              [] {
                started.count_down();
                while (!started.try_wait()) {
                }
                for (int i = 0; i < 4; i++) {
                  while (!reports.try_acquire_until(std::chrono::steady_clock::now() +
                                                    std::chrono::milliseconds(1))) {
                  }
                }
              }});
  std::printf("sum %d after %d rounds\n", sum, survey.rounds());
}
