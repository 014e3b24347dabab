// A signal to a thread in pthread_cond_wait: its handler runs, and the wait goes on.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t handled;
static int waiting, done;
static pthread_t waiter_thread;

static void handle(int number) {
  (void)number;
  const int before = errno;
  if (pthread_equal(pthread_self(), waiter_thread)) sem_post(&handled);
  errno = before;
}

static void *waiter(void *unused) {
  pthread_mutex_lock(&mutex);
  waiting = 1;
  pthread_cond_broadcast(&changed);
  while (!done) CHECK(pthread_cond_wait(&changed, &mutex) == 0);
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  sem_init(&handled, 0, 0);
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  pthread_mutex_lock(&mutex);
  CHECK(pthread_create(&waiter_thread, NULL, waiter, NULL) == 0);
  while (!waiting) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < 3; i++) {
    CHECK(pthread_kill(waiter_thread, SIGUSR1) == 0);
    while (sem_wait(&handled) != 0) CHECK(errno == EINTR);
  }
  pthread_mutex_lock(&mutex);
  done = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  pthread_join(waiter_thread, NULL);
  return ok();
}
