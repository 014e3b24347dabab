// Cancellation in a sleep, in sem_wait, in a read; clean-up handlers run.
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "check.h"

static sem_t ready, never;
static int cleaned;
static int pipes[2];

static void clean(void *unused) {
  (void)unused;
  cleaned++;
}

static void *sleeper(void *unused) {
  pthread_cleanup_push(clean, NULL);
  sem_post(&ready);
  for (;;) sleep(1000);
  pthread_cleanup_pop(0);
  return unused;
}

static void *waiter(void *unused) {
  pthread_cleanup_push(clean, NULL);
  sem_post(&ready);
  sem_wait(&never);
  pthread_cleanup_pop(0);
  return unused;
}

static void *reader(void *unused) {
  char byte;
  pthread_cleanup_push(clean, NULL);
  sem_post(&ready);
  CHECK(read(pipes[0], &byte, 1) == 1);
  pthread_cleanup_pop(0);
  return unused;
}

int main(void) {
  sem_init(&ready, 0, 0);
  sem_init(&never, 0, 0);
  CHECK(pipe(pipes) == 0);
  void *(*bodies[])(void *) = {sleeper, waiter, reader};
  for (int i = 0; i < 3; i++) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, bodies[i], NULL) == 0);
    sem_wait(&ready);
    CHECK(pthread_cancel(thread) == 0);
    void *result = NULL;
    CHECK(pthread_join(thread, &result) == 0);
    CHECK(result == PTHREAD_CANCELED);
    CHECK(cleaned == i + 1);
  }
  return ok();
}
