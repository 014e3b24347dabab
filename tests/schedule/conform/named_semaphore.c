// A semaphore by name, and one in shared memory, between processes.
#include <fcntl.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

int main(void) {
  char name[64];
  snprintf(name, sizeof name, "/tomos-conform-%d", (int)getpid());
  sem_t *named = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
  CHECK(named != SEM_FAILED);
  sem_unlink(name);
  sem_t *shared =
      mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED && sem_init(shared, 1, 0) == 0);
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 3; i++) {
      sem_wait(shared);
      sem_post(named);
    }
    _exit(0);
  }
  for (int i = 0; i < 3; i++) {
    sem_post(shared);
    sem_wait(named);
  }
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(sem_close(named) == 0);
  return ok();
}
