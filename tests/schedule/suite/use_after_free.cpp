// A reference count that is tested for zero in another critical section than the one that lowers
// it.
#include <memory>
#include <mutex>

#include "threads.h"

struct Shared {
  std::mutex mutex;
  int users = 2;
  bool freed = false;
};

static void release(Shared& object) {
  {
    std::lock_guard lock(object.mutex);
    object.users--;
#ifdef FIXED
    if (object.users > 0) return;
    object.freed = true;
    return;
#endif
  }
  std::lock_guard lock(object.mutex);
  if (object.users > 0) return;
  assert(!object.freed);  // freed twice
  object.freed = true;
}

int main() {
  Shared object;
  return run({[&] { release(object); }, [&] { release(object); }});
}
