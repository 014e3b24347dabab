// Threads that share a stream: its lock (flockfile) is held over several writes.
#include <pthread.h>
#include <string.h>

#include "check.h"

static FILE *file;

static void *work(void *letter) {
  for (int i = 0; i < 10; i++) {
    flockfile(file);
    fputs("<", file);
    fprintf(file, "%s", (char *)letter);
    fputs(">", file);
    funlockfile(file);
  }
  return NULL;
}

int main(void) {
  char *text = NULL;
  size_t size = 0;
  file = open_memstream(&text, &size);
  pthread_t threads[3];
  char *letters[3] = {"a", "b", "c"};
  for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, work, letters[i]) == 0);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  fclose(file);
  CHECK(size == 90);
  for (size_t i = 0; i < size; i += 3) CHECK(text[i] == '<' && text[i + 2] == '>');
  free(text);
  return ok();
}
