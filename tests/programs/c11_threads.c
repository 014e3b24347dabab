/* The threads, mutexes, conditions and call_once of C11. */
/* FINDS: label=add_if_room variable=count at=look,add */
#include <stdio.h>
#include <threads.h>

mtx_t mutex;
cnd_t all_done;
once_flag once = ONCE_FLAG_INIT;
int count;
int done;

static void initialise(void) {
  mtx_init(&mutex, mtx_plain);
  cnd_init(&all_done);
}

void add_if_room(void) {
  mtx_lock(&mutex);
  int room = count < 10; /* @look */
#ifdef BAD
  mtx_unlock(&mutex);
  mtx_lock(&mutex);
#endif
  if (room) count++; /* @add */
  mtx_unlock(&mutex);
}

static int work(void* unused) {
  (void)unused;
  add_if_room();
  mtx_lock(&mutex);
  done++;
  cnd_signal(&all_done);
  mtx_unlock(&mutex);
  return 7;
}

int main(void) {
  call_once(&once, initialise);
  thrd_t threads[2];
  for (int i = 0; i < 2; i++)
    if (thrd_create(&threads[i], work, NULL) != thrd_success) return 1;
  mtx_lock(&mutex);
  while (done < 2) cnd_wait(&all_done, &mutex);
  mtx_unlock(&mutex);
  int sum = 0;
  for (int i = 0; i < 2; i++) {
    int result = 0;
    thrd_join(threads[i], &result);
    sum += result;
  }
  return sum == 14 ? 0 : 1;
}
