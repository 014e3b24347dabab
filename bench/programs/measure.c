// Runs a program and writes its seconds, its peak resident set in kilobytes and its wait status to
// a file. The peak is that of the program and of the processes it has waited for, whichever is
// largest. A process starts with the peak of the one it was forked from, so this one is small.
//
//   measure FILE PROGRAM ARGUMENTS
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 3) {
    fputs("usage: measure FILE PROGRAM ARGUMENTS\n", stderr);
    return 2;
  }
  struct timespec start;
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  const pid_t child = fork();
  if (child == 0) {
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    _exit(127);
  }
  int status = 0;
  struct rusage usage;
  if (child < 0 || wait4(child, &status, 0, &usage) != child) {
    perror("measure");
    return 1;
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  FILE* file = fopen(argv[1], "w");
  if (file == NULL) {
    perror(argv[1]);
    return 1;
  }
  const double seconds =
      (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
  fprintf(file, "%.6f %ld %d\n", seconds, usage.ru_maxrss, status);
  return fclose(file) == 0 ? 0 : 1;
}
