// A thread takes a mutex that it holds already.
// EXPECT: deadlock always
#include <mutex>
#include <thread>

#include "check.h"

static std::mutex mutex;

static int total() {
  std::lock_guard lock(mutex);
  return 1;
}

static void report() {
  std::lock_guard lock(mutex);
  printf("%d\n", total());
}

int main() {
  std::thread(report).join();
  return ok();
}
