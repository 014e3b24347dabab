// pthread_atfork: the handlers take the lock before and free it on both sides.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int pairs[2];

static void take(void) { pthread_mutex_lock(&mutex); }
static void give(void) { pthread_mutex_unlock(&mutex); }

static void *work(void *unused) {
  for (int i = 0; i < 20; i++) {
    pthread_mutex_lock(&mutex);
    pairs[0]++;
    pairs[1]++;
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

int main(void) {
  CHECK(pthread_atfork(take, give, give) == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, work, NULL) == 0);
  for (int i = 0; i < 3; i++) {
    const pid_t child = fork();
    if (child == 0) {
      pthread_mutex_lock(&mutex);
      const int same = pairs[0] == pairs[1];
      pthread_mutex_unlock(&mutex);
      _exit(same ? 7 : 1);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
  }
  pthread_join(thread, NULL);
  CHECK(pairs[0] == 20 && pairs[1] == 20);
  return ok();
}
