/* Plain C: functions with external linkage are transactions, static ones are not. */
/* FINDS: label=push variable=stack at=look,push */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct stack {
  pthread_mutex_t mutex;
  int count;
  char* items[10];
};

struct stack stack = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static int size(void) {
  pthread_mutex_lock(&stack.mutex);
  int count = stack.count; /* @look */
  pthread_mutex_unlock(&stack.mutex);
  return count;
}

static void store(int at, char* item) {
  pthread_mutex_lock(&stack.mutex);
  stack.items[at] = item;
  stack.count = at + 1; /* @push */
  pthread_mutex_unlock(&stack.mutex);
}

void push(const char* text) {
#ifdef BAD
  store(size(), strdup(text));
#else
  char* item = strdup(text);
  pthread_mutex_lock(&stack.mutex);
  stack.items[stack.count++] = item;
  pthread_mutex_unlock(&stack.mutex);
#endif
}

static void* work(void* text) {
  push(text);
  return text;
}

int main(void) {
  pthread_t threads[2];
  char text[] = "text";
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, text);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  int count = size();
  for (int i = 0; i < count; i++) free(stack.items[i]);
  store(0, NULL);
  return 0;
}
