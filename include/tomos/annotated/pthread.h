// The mutexes of pthreads with Clang's thread-safety attributes: everything is declared again.
// bits/std_mutex.h says where this folder belongs.
#ifndef TOMOS_ANNOTATED_PTHREAD_H
#define TOMOS_ANNOTATED_PTHREAD_H

#pragma GCC system_header

#include_next <pthread.h>

#ifdef __cplusplus
extern "C" {
#define TOMOS_PTHREAD_(...) __THROWNL __attribute__((__VA_ARGS__))
#else
#define TOMOS_PTHREAD_(...) __attribute__((__VA_ARGS__))
#endif

typedef pthread_mutex_t pthread_mutex_t __attribute__((capability("mutex")));
typedef pthread_rwlock_t pthread_rwlock_t __attribute__((capability("mutex")));

int pthread_mutex_lock(pthread_mutex_t *lock) TOMOS_PTHREAD_(acquire_capability(*lock));
int pthread_mutex_trylock(pthread_mutex_t *lock) TOMOS_PTHREAD_(try_acquire_capability(0, *lock));
int pthread_mutex_unlock(pthread_mutex_t *lock) TOMOS_PTHREAD_(release_capability(*lock));

int pthread_rwlock_wrlock(pthread_rwlock_t *lock) TOMOS_PTHREAD_(acquire_capability(*lock));
int pthread_rwlock_rdlock(pthread_rwlock_t *lock) TOMOS_PTHREAD_(acquire_shared_capability(*lock));
int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
    TOMOS_PTHREAD_(try_acquire_capability(0, *lock));
int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
    TOMOS_PTHREAD_(try_acquire_shared_capability(0, *lock));
int pthread_rwlock_unlock(pthread_rwlock_t *lock) TOMOS_PTHREAD_(release_generic_capability(*lock));

#undef TOMOS_PTHREAD_
#ifdef __cplusplus
}
#endif

#endif
