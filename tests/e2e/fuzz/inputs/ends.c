/* Ends in the way that the first argument says, but only under control. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  printf("my last words\n");
  fflush(stdout);
  if (getenv("TOMOS_SCHEDULE") == 0 || argc < 2) return 0;
  if (strcmp(argv[1], "exit") == 0) return 3;
  if (strcmp(argv[1], "crash") == 0) *(volatile int*)0 = 1;
  if (strcmp(argv[1], "hang") == 0) {
    for (;;) continue;
  }
  return 0;
}
