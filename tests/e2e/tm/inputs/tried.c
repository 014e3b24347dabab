/* Locks that may fail, that readers share, and that are left in other ways: each mistake with a
   twin that has none. */
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t c11;
static int tried, spun, waited, shared, left, listed, sorted, nested, open_for, c;

static void bad_try(int n) {
  int have = 0;
  if (pthread_mutex_trylock(&m) == 0) {
    have = tried;
    pthread_mutex_unlock(&m);
  }
  if (have < n || pthread_mutex_trylock(&m)) return;
  tried = have - n;
  pthread_mutex_unlock(&m);
}

static void ok_try(int n) {
  int busy = pthread_mutex_trylock(&m);
  if (busy) return;
  if (tried >= n) tried = tried - n;
  pthread_mutex_unlock(&m);
}

static int enter(void) { return mtx_trylock(&c11) == thrd_success; }

static void bad_wrapped(int n) {
  int have = 0;
  if (enter()) {
    have = c;
    mtx_unlock(&c11);
  }
  if (have >= n && enter()) {
    c = have - n;
    mtx_unlock(&c11);
  }
}

static void ok_wrapped(int n) {
  if (!enter()) return;
  if (c >= n) c = c - n;
  mtx_unlock(&c11);
}

static void spin(void) {
  while (pthread_mutex_trylock(&m) != 0) {
  }
}

static void bad_spin(int n) {
  spin();
  int have = spun;
  pthread_mutex_unlock(&m);
  spin();
  spun = have - n;
  pthread_mutex_unlock(&m);
}

static void ok_spin(int n) {
  spin();
  spun = spun - n;
  pthread_mutex_unlock(&m);
}

static void bad_shared(int n) {
  pthread_rwlock_rdlock(&rw);
  int have = shared;
  pthread_rwlock_unlock(&rw);
  if (have < n) return;
  pthread_rwlock_wrlock(&rw);
  shared -= n;
  pthread_rwlock_unlock(&rw);
}

static void ok_shared(int n) {
  pthread_rwlock_wrlock(&rw);
  if (shared >= n) shared -= n;
  pthread_rwlock_unlock(&rw);
}

static int bad_goto(int n) {
  int have, result = -1;
  pthread_mutex_lock(&m);
  if (!open_for) goto out;
  have = left;
  pthread_mutex_unlock(&m);
  if (have < n) return -1;
  pthread_mutex_lock(&m);
  left = have - n;
  result = 0;
out:
  pthread_mutex_unlock(&m);
  return result;
}

static int ok_goto(int n) {
  int result = -1;
  pthread_mutex_lock(&m);
  if (left < n) goto out;
  left = left - n;
  result = 0;
out:
  pthread_mutex_unlock(&m);
  return result;
}

static int check(int n) {
  pthread_mutex_lock(&m);
  const int enough = listed >= n;
  pthread_mutex_unlock(&m);
  return enough;
}
static int act(int n) {
  pthread_mutex_lock(&m);
  listed -= n;
  pthread_mutex_unlock(&m);
  return 0;
}
static const struct {
  const char *name;
  int (*run)(int);
} steps[] = {{"check", check}, {"act", act}};

static void bad_table(int n) {
  if (steps[0].run(n)) steps[1].run(n);
}

static int bad_compare(const void *one, const void *other) {
  pthread_mutex_lock(&m);
  const int count = sorted;
  pthread_mutex_unlock(&m);
  pthread_mutex_lock(&m);
  sorted = count + 1;
  pthread_mutex_unlock(&m);
  return *(const int *)one - *(const int *)other;
}

/* The holder takes it again: one section. */
static pthread_mutex_t again;
static int get(void) {
  pthread_mutex_lock(&again);
  const int n = nested;
  pthread_mutex_unlock(&again);
  return n;
}
static void ok_again(int n) {
  pthread_mutex_lock(&again);
  const int have = get();
  nested = have - n;
  pthread_mutex_unlock(&again);
}

/* Made inside a section, and runs beside the rest of it. */
static void *bad_late(void *with) {
  pthread_mutex_lock(&m);
  const int have = waited;
  pthread_mutex_unlock(&m);
  pthread_mutex_lock(&m);
  waited = have + 1;
  pthread_mutex_unlock(&m);
  return with;
}

static void *run(void *with) {
  const int n = *(int *)with;
  int few[2] = {n, 1};
  bad_try(n);
  ok_try(n);
  bad_wrapped(n);
  ok_wrapped(n);
  bad_spin(n);
  ok_spin(n);
  bad_shared(n);
  ok_shared(n);
  bad_goto(n);
  ok_goto(n);
  bad_table(n);
  qsort(few, 2, sizeof few[0], bad_compare);
  ok_again(n);
  return 0;
}

int main(void) {
  int n = 3;
  pthread_t one, two, three;
  pthread_create(&one, 0, run, &n);
  pthread_create(&two, 0, run, &n);
  pthread_rwlock_rdlock(&rw);
  pthread_create(&three, 0, bad_late, &n);
  pthread_mutex_lock(&m);
  waited = 0;
  pthread_mutex_unlock(&m);
  pthread_rwlock_unlock(&rw);
  pthread_join(one, 0);
  pthread_join(two, 0);
  pthread_join(three, 0);
}
