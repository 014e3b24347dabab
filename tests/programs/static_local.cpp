// A variable that only its function can name.
// FINDS: label=next_id variable=last_id at=look,store
#include <mutex>

#include "threads.h"

int next_id() {
  static std::mutex mutex;
  static int last_id;
  std::unique_lock lock(mutex);
  const int id = last_id + 1;  // @look
#ifdef BAD
  lock.unlock();
  lock.lock();
#endif
  last_id = id;  // @store
  return id;
}

int main() {
  in_threads({[] { next_id(); }, [] { next_id(); }});
}
