// exit while others wait, hold locks or run; handlers of atexit and static destructors still lock.
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <semaphore>
#include <thread>

#include "check.h"

static std::mutex held, free_one;
// Not destroyed: the destructor would wait for who waits.
static std::condition_variable& never = *new std::condition_variable;
static std::counting_semaphore<4> ready(0);

struct Last {
  ~Last() {
    std::lock_guard lock(free_one);
    ok();
  }
} last;

int main() {
  std::atexit([] { std::lock_guard lock(free_one); });
  std::thread([] {
    std::unique_lock lock(held);
    ready.release();
    never.wait(lock, [] { return false; });
  }).detach();
  std::thread([] {
    static std::mutex mine;
    std::lock_guard lock(mine);
    ready.release();
    for (;;) std::this_thread::yield();
  }).detach();
  std::thread([] {
    for (int i = 0;; i++) {
      std::lock_guard lock(free_one);
      if (i == 0) ready.release();
    }
  }).detach();
  for (int i = 0; i < 3; i++) ready.acquire();
  std::exit(0);
}
