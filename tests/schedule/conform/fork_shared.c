// A mutex and a condition variable in memory shared with a child process: whoever waits is woken by
// another process, which is no deadlock.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

struct shared {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int turn;
};

static void take_turns(struct shared *shared, int mine) {
  for (int i = 0; i < 4; i++) {
    pthread_mutex_lock(&shared->mutex);
    while (shared->turn % 2 != mine) pthread_cond_wait(&shared->changed, &shared->mutex);
    shared->turn++;
    pthread_cond_broadcast(&shared->changed);
    pthread_mutex_unlock(&shared->mutex);
  }
}

int main(void) {
  struct shared *shared =
      mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED);
  pthread_mutexattr_t mutex_attributes;
  pthread_mutexattr_init(&mutex_attributes);
  pthread_mutexattr_setpshared(&mutex_attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&shared->mutex, &mutex_attributes);
  pthread_condattr_t cond_attributes;
  pthread_condattr_init(&cond_attributes);
  pthread_condattr_setpshared(&cond_attributes, PTHREAD_PROCESS_SHARED);
  pthread_cond_init(&shared->changed, &cond_attributes);
  const pid_t child = fork();
  if (child == 0) {
    take_turns(shared, 1);
    _exit(0);
  }
  take_turns(shared, 0);
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(shared->turn == 8);
  return ok();
}
