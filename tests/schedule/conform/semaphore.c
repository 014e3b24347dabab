// sem_wait, sem_trywait, sem_timedwait, sem_clockwait.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "check.h"

static sem_t items, room, never;
static int buffer[2], sum;

static void *consume(void *unused) {
  (void)unused;
  for (int i = 0; i < 8; i++) {
    sem_wait(&items);
    sum += buffer[i % 2];
    sem_post(&room);
  }
  return NULL;
}

int main(void) {
  sem_init(&items, 0, 0);
  sem_init(&room, 0, 2);
  sem_init(&never, 0, 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, consume, NULL) == 0);
  for (int i = 0; i < 8; i++) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 3600;
    while (sem_timedwait(&room, &limit) != 0) CHECK(errno == EINTR);
    buffer[i % 2] = i;
    sem_post(&items);
  }
  pthread_join(thread, NULL);
  CHECK(sum == 28);
  CHECK(sem_trywait(&never) == -1 && errno == EAGAIN);
  struct timespec soon;
  clock_gettime(CLOCK_MONOTONIC, &soon);
  soon.tv_sec += 1;
  CHECK(sem_clockwait(&never, CLOCK_MONOTONIC, &soon) == -1 && errno == ETIMEDOUT);
  int value = -1;
  CHECK(sem_getvalue(&room, &value) == 0 && value == 2);
  return ok();
}
