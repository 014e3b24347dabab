/* Critical sections that wait: a loop asks again, an `if` does not. */
#include <pthread.h>
#include <stdlib.h>

struct lock {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int value;
};

static void *(*allocate)(size_t) = malloc;
static struct lock *have, *room;

static void fail(void) { exit(1); }

static void possess(struct lock *of) {
  if (pthread_mutex_lock(&of->mutex) != 0) fail();
}

static void release(struct lock *of) {
  if (pthread_mutex_unlock(&of->mutex) != 0) fail();
}

static void wait(struct lock *of) {
  if (pthread_cond_wait(&of->changed, &of->mutex) != 0) fail();
}

static struct lock *make(void) {
  struct lock *made = allocate(sizeof *made);
  pthread_mutex_init(&made->mutex, NULL);
  made->value = 0;
  return made;
}

static void take(void) {
  possess(have);
  while (have->value == 0) wait(have);
  have->value--;
  release(have);
}

static void take_once(void) {
  possess(room);
  if (room->value > 0) {
    wait(room);
    room->value--;
  }
  release(room);
}

static void give(struct lock *to) {
  possess(to);
  to->value++;
  pthread_cond_broadcast(&to->changed);
  release(to);
}

static void *run(void *unused) {
  (void)unused;
  take();
  give(have);
  give(room);
  take_once();
  return NULL;
}

int main(void) {
  have = make();
  room = make();
  pthread_t one, two;
  pthread_create(&one, NULL, run, NULL);
  pthread_create(&two, NULL, run, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  return 0;
}
