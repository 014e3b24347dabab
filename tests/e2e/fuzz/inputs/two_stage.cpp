// Who reads both halves can see the one without the other, if it comes between the two.
#include <cassert>
#include <mutex>
#include <thread>

static std::mutex first_lock, second_lock;
static int first, second;

static void set() {
  {
    std::lock_guard lock(first_lock);
    first = 1;
  }
  std::lock_guard lock(second_lock);
  second = 2;
}

static void check() {
  {
    std::lock_guard lock(first_lock);
    if (first == 0) return;
  }
  std::lock_guard lock(second_lock);
  assert(second == 2);
}

int main() {
  std::thread one(set), two(check);
  one.join();
  two.join();
}
