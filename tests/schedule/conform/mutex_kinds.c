// What each kind of mutex answers: error checking, recursive, normal, priority inheritance.
#include <errno.h>
#include <pthread.h>

#include "check.h"

static pthread_mutex_t make(int kind, int protocol) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, kind);
  pthread_mutexattr_setprotocol(&attributes, protocol);
  pthread_mutex_t mutex;
  CHECK(pthread_mutex_init(&mutex, &attributes) == 0);
  pthread_mutexattr_destroy(&attributes);
  return mutex;
}

static pthread_mutex_t checking, recursive, inheriting;

static void *other(void *unused) {
  (void)unused;
  CHECK(pthread_mutex_trylock(&checking) == EBUSY);
  CHECK(pthread_mutex_unlock(&checking) == EPERM);
  CHECK(pthread_mutex_trylock(&recursive) == EBUSY);
  CHECK(pthread_mutex_unlock(&recursive) == EPERM);
  CHECK(pthread_mutex_trylock(&inheriting) == EBUSY);
  return NULL;
}

int main(void) {
  checking = make(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE);
  recursive = make(PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE);
  inheriting = make(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT);
  CHECK(pthread_mutex_lock(&checking) == 0);
  CHECK(pthread_mutex_lock(&checking) == EDEADLK);
  CHECK(pthread_mutex_trylock(&checking) == EBUSY);
  CHECK(pthread_mutex_lock(&recursive) == 0);
  CHECK(pthread_mutex_lock(&recursive) == 0);
  CHECK(pthread_mutex_unlock(&recursive) == 0);
  CHECK(pthread_mutex_lock(&inheriting) == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, other, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(pthread_mutex_unlock(&inheriting) == 0);
  CHECK(pthread_mutex_unlock(&recursive) == 0);
  CHECK(pthread_mutex_unlock(&recursive) == EPERM);
  CHECK(pthread_mutex_unlock(&checking) == 0);
  CHECK(pthread_mutex_unlock(&checking) == EPERM);
  return ok();
}
