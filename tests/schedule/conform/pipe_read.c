// A blocking read of a pipe that another thread writes later; the reader must not stall it.
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "check.h"

static int to_reader[2], to_writer[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void *reader(void *unused) {
  char byte = 0;
  while (read(to_reader[0], &byte, 1) == 1) {
    pthread_mutex_lock(&mutex);
    sum += byte;
    pthread_mutex_unlock(&mutex);
    CHECK(write(to_writer[1], &byte, 1) == 1);
  }
  return unused;
}

int main(void) {
  CHECK(pipe(to_reader) == 0 && pipe(to_writer) == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, reader, NULL) == 0);
  for (char i = 1; i <= 5; i++) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    CHECK(write(to_reader[1], &i, 1) == 1);
    char answer = 0;
    CHECK(read(to_writer[0], &answer, 1) == 1 && answer == i);
  }
  close(to_reader[1]);
  pthread_join(thread, NULL);
  CHECK(sum == 15);
  return ok();
}
