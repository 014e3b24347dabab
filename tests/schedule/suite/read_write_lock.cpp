// Readers look something up under a shared lock and change it under the exclusive lock, which they
// took anew.
#include <map>
#include <mutex>
#include <shared_mutex>

#include "threads.h"

static std::shared_mutex mutex;
static std::map<int, int> stock = {{1, 1}};

static void buy() {
#ifndef FIXED
  {
    std::shared_lock lock(mutex);
    if (stock.at(1) == 0) return;
  }
  std::unique_lock lock(mutex);
#else
  std::unique_lock lock(mutex);
  if (stock.at(1) == 0) return;
#endif
  stock.at(1)--;
  assert(stock.at(1) >= 0);
}

int main() {
  return run({buy, buy, [] { std::shared_lock lock(mutex); }});
}
