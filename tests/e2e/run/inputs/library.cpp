// A library that is not instrumented. It locks, and calls back; with QUIET it only calls back.
#include <pthread.h>

#ifndef QUIET
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
#endif

extern "C" void in_library(void (*work)()) {
#ifndef QUIET
  pthread_mutex_lock(&mutex);
#endif
  work();
#ifndef QUIET
  pthread_mutex_unlock(&mutex);
#endif
}
