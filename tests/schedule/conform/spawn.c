// Other programs: system, popen, posix_spawn and fork with exec, from threads.
#include <pthread.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

extern char **environ;

static void *by_system(void *unused) {
  const int status = system("exit 3");
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
  return unused;
}

static void *by_popen(void *unused) {
  FILE *pipe = popen("echo hello", "r");
  CHECK(pipe != NULL);
  char line[16] = "";
  CHECK(fgets(line, sizeof line, pipe) != NULL && strcmp(line, "hello\n") == 0);
  CHECK(pclose(pipe) == 0);
  return unused;
}

static void *by_spawn(void *unused) {
  char *arguments[] = {"sh", "-c", "exit 4", NULL};
  pid_t child;
  CHECK(posix_spawnp(&child, "sh", NULL, NULL, arguments, environ) == 0);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 4);
  return unused;
}

int main(void) {
  void *(*bodies[])(void *) = {by_system, by_popen, by_spawn};
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, bodies[i], NULL) == 0);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  fflush(stdout);
  execlp("echo", "echo", "ok", (char *)NULL);
  return 1;
}
