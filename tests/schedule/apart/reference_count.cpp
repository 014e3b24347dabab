// A cached object goes when nobody refers to it: counted in one step, looked at in the next.
#include <atomic>

#include "../suite/threads.h"

struct Object {
  std::atomic<int> references = 2;
  bool alive = true;
};

static Object object;
static std::atomic<int> cleanups = 0;

static void release() {
#ifdef FIXED
  const bool last = --object.references == 0;
#else
  --object.references;
  const bool last = object.references == 0;
#endif
  if (last) {
    cleanups++;
    assert(object.alive);
    object.alive = false;
  }
}

int main() {
  return run({release, release}, [] { assert(cleanups == 1); });
}
