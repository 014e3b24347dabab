/* What critical sections have and transactions have not: several locks, waits, and calls that fail.
 */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int x, y, room, total, errors;

struct item {
  struct item *next;
};
static struct item *head;

static void take_lock(pthread_mutex_t *m) {
  int ret = pthread_mutex_lock(m);
  if (ret != 0) { /* never: or this would come between */
    errors = total;
    total = 0;
    exit(1);
  }
}

enum how { SET, ADD };

static void change(enum how how, int n) {
  take_lock(&a);
  switch (how) {
    case SET:
      total = n;
      break;
    case ADD:
      total += n;
      break;
  }
  pthread_mutex_unlock(&a);
}

/* x and y have a lock each: they are not one state. */
static int two_locks(void) {
  int sum;
  take_lock(&a);
  sum = x;
  pthread_mutex_unlock(&a);
  take_lock(&b);
  sum += y;
  pthread_mutex_unlock(&b);
  return sum;
}

static void both(int n) {
  take_lock(&a);
  x = n;
  take_lock(&b);
  y = n;
  pthread_mutex_unlock(&b);
  pthread_mutex_unlock(&a);
}

/* Waits in a loop, and then acts: right. */
static void enter(void) {
  take_lock(&a);
  while (room == 0) pthread_cond_wait(&changed, &a);
  room--;
  pthread_mutex_unlock(&a);
}

/* Waits, looks, and acts in another section. */
static void enter_late(void) {
  int left;
  take_lock(&a);
  if (room == 0) pthread_cond_wait(&changed, &a);
  left = room;
  pthread_mutex_unlock(&a);
  take_lock(&a);
  room = left - 1;
  pthread_mutex_unlock(&a);
}

static void leave(void) {
  take_lock(&a);
  room++;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&a);
}

/* The old head is in the new one when that becomes the head. */
static void push(void) {
  struct item *made = malloc(sizeof *made);
  take_lock(&b);
  made->next = head;
  pthread_mutex_unlock(&b);
  take_lock(&b);
  head = made;
  pthread_mutex_unlock(&b);
}

static void *run(void *unused) {
  change(SET, 1);
  change(ADD, 1);
  both(1);
  two_locks();
  enter();
  enter_late();
  leave();
  push();
  return unused;
}

int main(void) {
  pthread_t threads[2];
  int i;
  for (i = 0; i < 2; i++) pthread_create(&threads[i], NULL, run, NULL);
  for (i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return 0;
}
