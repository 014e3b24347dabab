/* Leaves a daemon behind, in a session of its own, which has a child there. */
#include <unistd.h>

int main(void) {
  if (fork() != 0) return 0;
  setsid();
  if (fork() != 0) _exit(0);
  fork();
  for (;;) pause();
}
