// The same in C; see bank.cpp.
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

typedef void (*Tell)(const char* what, const void* address);
static Tell tell_address;

__attribute__((noinline)) static void tell(const char* what) {
  tell_address(what, __builtin_return_address(0));
}

typedef struct {
  int head, tail;
  struct item {
    void* data;
    int flags : 3;
  } items[8];
} queue_t;

static queue_t queue;
int depth;
static struct {
  sem_t ready;
  pthread_mutex_t locks[2];
} guards;

__attribute__((noinline)) static void* allocate(size_t size) {
  tell_address("malloc", __builtin_return_address(0));
  return malloc(size);
}

__attribute__((noinline)) static void push(void* data) {
  struct item* copy = allocate(sizeof *copy);
  queue.items[queue.tail++].data = data;
  tell("push");  // @push
  depth++;
  free(copy);
}

// The way to a wait: in the function, through one of this file that is kept apart, and none.
static pthread_cond_t filled;
__attribute__((noinline)) static int await_item(void) {
  while (depth == 0) pthread_cond_wait(&filled, &guards.locks[0]);
  return depth;
}
__attribute__((noinline)) int take(void) { return await_item() + 1; }
int take_two(void) { return take() + take(); }
int peek(void) { return depth; }
static int (*volatile how)(void) = take;
int take_somehow(void) { return how(); }

void run(Tell tell_function) {
  tell_address = tell_function;
  push(&queue);
  tell_address("queue.items[2].data", &queue.items[2].data);
  tell_address("depth", &depth);
  tell_address("guards.ready", &guards.ready);
  tell_address("guards.locks[1]", &guards.locks[1]);
}
