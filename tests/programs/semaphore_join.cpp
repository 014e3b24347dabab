// Each worker posts when it is done, and the results are read when all have, or only half of them.
// FINDS: label=summary variable=results at=result
#include <semaphore.h>

#include "threads.h"

constexpr int kWorkers = 4;
#ifdef BAD
constexpr int kAwaited = kWorkers / 2;
#else
constexpr int kAwaited = kWorkers;
#endif

sem_t done;
int results[kWorkers];

void work(int worker) {
  results[worker] = worker;
  results[worker] *= results[worker];  // @result
}

int summary() {
  int sum = 0;
  for (int worker = 0; worker < kWorkers; worker++) sum += results[worker];
  return sum;
}

template <int Worker>
static void worker() {
  work(Worker);
  sem_post(&done);
}

static void reader() {
  for (int i = 0; i < kAwaited; i++) sem_wait(&done);
  keep(summary());
}

int main() {
  sem_init(&done, 0, 0);
  in_threads({worker<0>, worker<1>, worker<2>, worker<3>, reader});
  sem_destroy(&done);
}
