// A POSIX timer that runs its function in a thread which the C library makes.
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

#include "check.h"

static sem_t fired;

static void fire(union sigval value) { sem_post(value.sival_ptr); }

int main(void) {
  sem_init(&fired, 0, 0);
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_value = {.sival_ptr = &fired}};
  event.sigev_notify_function = fire;
  CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  const struct itimerspec soon = {.it_value = {.tv_nsec = 2000000},
                                  .it_interval = {.tv_nsec = 2000000}};
  CHECK(timer_settime(timer, 0, &soon, NULL) == 0);
  for (int i = 0; i < 3; i++) sem_wait(&fired);
  CHECK(timer_delete(timer) == 0);
  return ok();
}
