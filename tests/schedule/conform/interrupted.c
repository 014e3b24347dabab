// Signals that interrupt: sem_wait and nanosleep return EINTR, a read does, pause returns.
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static sem_t never;
static int pipes[2];
static atomic_int stage;

static void handle(int number) { (void)number; }

static void *wait_four_ways(void *unused) {
  char byte;
  const struct timespec long_time = {.tv_sec = 100000};
  while (sem_wait(&never) == 0) CHECK(!"nobody posts");
  CHECK(errno == EINTR);
  stage = 1;
  CHECK(nanosleep(&long_time, NULL) == -1 && errno == EINTR);
  stage = 2;
  CHECK(read(pipes[0], &byte, 1) == -1 && errno == EINTR);
  stage = 3;
  CHECK(pause() == -1 && errno == EINTR);
  stage = 4;
  return unused;
}

int main(void) {
  sem_init(&never, 0, 0);
  CHECK(pipe(pipes) == 0);
  const struct sigaction action = {.sa_handler = handle};
  sigaction(SIGUSR1, &action, NULL);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, wait_four_ways, NULL) == 0);
  // A signal can come between two waits, so there are as many as it takes.
  while (stage < 4) {
    pthread_kill(thread, SIGUSR1);
    usleep(1000);
  }
  pthread_join(thread, NULL);
  return ok();
}
