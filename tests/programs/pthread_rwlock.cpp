// Looking with a read lock and changing with a write lock, with nothing held in between.
// FINDS: label=set_if_unset variable=setting at=look,set
#include <pthread.h>

#include "threads.h"

pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
int setting;

void set_if_unset(int value) {
#ifdef BAD
  pthread_rwlock_rdlock(&rwlock);
  const bool unset = setting < 100;  // @look
  pthread_rwlock_unlock(&rwlock);
  pthread_rwlock_wrlock(&rwlock);
#else
  pthread_rwlock_wrlock(&rwlock);
  const bool unset = setting < 100;
#endif
  if (unset) setting += value;  // @set
  pthread_rwlock_unlock(&rwlock);
}

int twice() {
  pthread_rwlock_rdlock(&rwlock);
  const int sum = setting + setting;
  pthread_rwlock_unlock(&rwlock);
  return sum;
}

static void work() {
  set_if_unset(1);
  twice();
}

int main() { in_threads({work, work}); }
