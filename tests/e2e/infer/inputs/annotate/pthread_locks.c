#include <pthread.h>
#include <tomos/thread_annotations.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static int value GUARDED_BY(lock);
static int seen GUARDED_BY(shared);

int try_it(void) {
  if (pthread_mutex_trylock(&lock) != 0) return 0;
  ++value;
  pthread_mutex_unlock(&lock);
  return 1;
}

int look(void) {
  pthread_rwlock_rdlock(&shared);
  const int result = seen;
#ifdef BAD
  seen = 0;
#endif
  pthread_rwlock_unlock(&shared);
  return result;
}

int main(void) {
  pthread_mutex_lock(&lock);
  ++value;
  pthread_mutex_unlock(&lock);
#ifdef BAD
  return value;
#else
  return 0;
#endif
}
