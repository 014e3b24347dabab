// C11 threads: mtx, cnd, tss, call_once, thrd_sleep.
#include <stdatomic.h>
#include <threads.h>
#include <time.h>

#include "check.h"

static mtx_t mutex, timed;
static cnd_t changed;
static tss_t key;
static once_flag flag = ONCE_FLAG_INIT;
static int turn, initialised;
static atomic_int destroyed;

static void initialise(void) { initialised++; }
static void destroy(void *value) { destroyed += *(int *)value; }

static int play(void *argument) {
  const int mine = *(int *)argument;
  call_once(&flag, initialise);
  CHECK(tss_set(key, argument) == thrd_success);
  for (int i = 0; i < 5; i++) {
    mtx_lock(&mutex);
    while (turn % 2 != mine) CHECK(cnd_wait(&changed, &mutex) == thrd_success);
    turn++;
    cnd_broadcast(&changed);
    mtx_unlock(&mutex);
  }
  thrd_sleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  thrd_yield();
  return mine + 30;
}

static int give_up(void *unused) {
  (void)unused;
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  CHECK(mtx_trylock(&timed) == thrd_busy);
  CHECK(mtx_timedlock(&timed, &now) == thrd_timedout);
  return 0;
}

int main(void) {
  mtx_init(&mutex, mtx_plain);
  mtx_init(&timed, mtx_timed);
  cnd_init(&changed);
  tss_create(&key, destroy);
  thrd_t threads[2];
  int numbers[2] = {0, 1};
  for (int i = 0; i < 2; i++) CHECK(thrd_create(&threads[i], play, &numbers[i]) == thrd_success);
  for (int i = 0; i < 2; i++) {
    int result = 0;
    CHECK(thrd_join(threads[i], &result) == thrd_success && result == 30 + i);
  }
  CHECK(turn == 10 && initialised == 1 && destroyed == 1);
  mtx_lock(&timed);
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  CHECK(thrd_create(&threads[0], give_up, NULL) == thrd_success);
  thrd_join(threads[0], NULL);
  mtx_lock(&mutex);
  CHECK(cnd_timedwait(&changed, &mutex, &now) == thrd_timedout);
  return ok();
}
