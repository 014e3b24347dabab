// A thread that handles all signals with sigwait; a signal by kill and one by alarm, and raise.
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"

static sigset_t watched;
static int usr1, alarms;
static volatile sig_atomic_t raised;

static void *watch(void *unused) {
  while (alarms == 0 || usr1 == 0) {
    int number = 0;
    CHECK(sigwait(&watched, &number) == 0);
    if (number == SIGUSR1) usr1++;
    if (number == SIGALRM) alarms++;
  }
  return unused;
}

static void handle(int number) { raised = number; }

int main(void) {
  sigemptyset(&watched);
  sigaddset(&watched, SIGUSR1);
  sigaddset(&watched, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &watched, NULL);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, watch, NULL) == 0);
  struct itimerval soon = {.it_value = {.tv_usec = 2000}};
  setitimer(ITIMER_REAL, &soon, NULL);
  kill(getpid(), SIGUSR1);
  pthread_join(thread, NULL);
  CHECK(usr1 == 1 && alarms == 1);
  signal(SIGUSR2, handle);
  raise(SIGUSR2);
  CHECK(raised == SIGUSR2);
  return ok();
}
