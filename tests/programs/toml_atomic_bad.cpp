// What tomos.toml calls atomic is, and what it includes is looked at, though functions with
// internal linkage are not by themselves.
// TOML: atomic = ["serve_*"]
// TOML: include = ["count_*"]
// FINDS: label=serve_twice variable=served at=serve
// FINDS: label=count_twice variable=counted at=count
#include <mutex>

#include "threads.h"

std::mutex mutex;
int served;
int counted;

static void serve() {
  std::lock_guard lock(mutex);
  served++;  // @serve
}

static void serve_twice() {
  serve();
  serve();
}

static void count() {
  std::lock_guard lock(mutex);
  counted++;  // @count
}

static void count_twice() {
  count();
  count();
}

int main() { in_threads({serve_twice, serve_twice, count_twice, count_twice}); }
