// One thread waits for signals all the time, as in many servers; the others work, and sleep.
// Signals come to the process and to that thread alone; one does not come, and the wait is over in
// time. REPEATABLE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"

static sigset_t watched;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int worked, told;

static void *wait_for_signals(void *unused) {
  for (;;) {
    int number = 0;
    CHECK(sigwait(&watched, &number) == 0);
    if (number == SIGTERM) return unused;
    CHECK(number == SIGUSR1);
    told++;
  }
}

static void *work(void *unused) {
  for (int i = 0; i < 5; i++) {
    pthread_mutex_lock(&mutex);
    worked++;
    pthread_mutex_unlock(&mutex);
    sleep(10);
  }
  return unused;
}

int main(void) {
  sigemptyset(&watched);
  sigaddset(&watched, SIGUSR1);
  sigaddset(&watched, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &watched, NULL);
  pthread_t signals, workers[2];
  CHECK(pthread_create(&signals, NULL, wait_for_signals, NULL) == 0);
  for (int i = 0; i < 2; i++) CHECK(pthread_create(&workers[i], NULL, work, NULL) == 0);
  kill(getpid(), SIGUSR1);
  for (int i = 0; i < 2; i++) pthread_join(workers[i], NULL);
  CHECK(worked == 10);
  pthread_kill(signals, SIGTERM);
  pthread_join(signals, NULL);
  CHECK(told == 1);
  const struct timespec time = {.tv_sec = 100};
  CHECK(sigtimedwait(&watched, NULL, &time) == -1 && errno == EAGAIN);
  return ok();
}
