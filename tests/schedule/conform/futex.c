// Locks that a program makes of futexes itself.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static atomic_int word;  // 0 free, 1 taken, 2 taken and somebody may wait
static int count;

static void lock(void) {
  int expected = 0;
  if (atomic_compare_exchange_strong(&word, &expected, 1)) return;
  while (atomic_exchange(&word, 2) != 0) {
    const long status = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
    CHECK(status == 0 || errno == EAGAIN || errno == EINTR);
  }
}

static void unlock(void) {
  if (atomic_exchange(&word, 0) == 2)
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *work(void *unused) {
  for (int i = 0; i < 10; i++) {
    lock();
    count++;
    unlock();
  }
  return unused;
}

int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  CHECK(count == 30);
  const struct timespec brief = {.tv_nsec = 2000000};
  CHECK(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &brief, NULL, 0) == -1 &&
        errno == ETIMEDOUT);
  return ok();
}
