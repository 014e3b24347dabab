// Two locks in two orders. A semaphore keeps this run from blocking: prediction does not know it.
// FINDS: kind=deadlock
#include <semaphore.h>

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
static sem_t passed;

int main() {
  sem_init(&passed, 0, 0);
  in_threads({[] {
                add(left, right);
                sem_post(&passed);
              },
              [] {
                sem_wait(&passed);
                add(right, left);
              }});
}
#else
int main() {
  in_threads({[] { add(left, right); }, [] { add(left, right); }});
}
#endif
