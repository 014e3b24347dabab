// A log: each line has a number of its own, drawn in one transaction and shown in the next.
#include <pthread.h>
#include <stdio.h>

static int next_number;
static int lines;
static FILE* file;

static void note(const char* text) {
  int number;
  __transaction_atomic { number = next_number++; }
  __transaction_relaxed {
    fprintf(file, "%d: %s\n", number, text);
    lines++;
  }
}

static void* talk(void* arg) {
  for (int i = 0; i < 10; ++i) note("hello");
  return arg;
}

int main(void) {
  file = stdout;
  pthread_t one, other;
  pthread_create(&one, NULL, talk, NULL);
  pthread_create(&other, NULL, talk, NULL);
  pthread_join(one, NULL);
  pthread_join(other, NULL);
  return lines != 20;
}
