// Two locks in two orders. A flag keeps this run from blocking: prediction does not look at values.
// FINDS: kind=deadlock
#include <atomic>
#include <mutex>

#include "threads.h"

std::mutex left;
std::mutex right;
int count;

static void add(std::mutex& first, std::mutex& second) {
  std::lock_guard outer(first);
  std::lock_guard inner(second);
  count++;
}

#ifdef BAD
static std::atomic<bool> passed;

int main() {
  in_threads({[] {
                add(left, right);
                passed = true;
              },
              [] {
                while (!passed) std::this_thread::yield();
                add(right, left);
              }});
}
#else
int main() {
  in_threads({[] { add(left, right); }, [] { add(left, right); }});
}
#endif
