// Threads that meet in all the ways there are, and a try_lock that may fail.
#include <barrier>
#include <cassert>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>

std::latch started(2);
std::barrier<> done(2);
std::binary_semaphore turn(1);
std::shared_mutex shared;
std::mutex tried;
std::once_flag once;
bool made;
bool told;
bool lost;

void make() {
  std::call_once(once, [] { made = true; });
}

void try_it() {
  make();
  started.arrive_and_wait();
  turn.acquire();
  if (tried.try_lock()) {
    tried.unlock();
  } else {
    std::shared_lock reads(shared);
    lost = told;
  }
  turn.release();
  done.arrive_and_wait();
}

void hold_it() {
  started.count_down();
  make();
  std::lock_guard holds(tried);
  {
    std::unique_lock writes(shared);
    told = made;
  }
  turn.acquire();
  turn.release();
}

int main() {
  std::thread first(try_it);
  std::thread second([] {
    hold_it();
    done.arrive_and_wait();
  });
  first.join();
  second.join();
  assert(!lost);
}
