// What tomos.toml ignores is no transaction.
// TOML: ignore = ["Statistics::*", "old_*"]
#include <mutex>

#include "threads.h"

std::mutex mutex;
int seen;

static void add_one() {
  std::lock_guard lock(mutex);
  seen++;
}

struct Statistics {
  static void count_twice() {
    add_one();
    add_one();
  }
};

void old_count_twice() {
  add_one();
  add_one();
}

static void work() {
  Statistics::count_twice();
  old_count_twice();
}

int main() { in_threads({work, work}); }
