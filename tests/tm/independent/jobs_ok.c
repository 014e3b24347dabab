// Jobs go from one list to another. Whoever takes a job has it for himself.
#include <pthread.h>
#include <stdlib.h>

#define TM_BEGIN() begin_transaction()
#define TM_END() end_transaction()
void begin_transaction(void);
void end_transaction(void);

struct job {
  int input;
  int output;
  struct job* next;
};
static struct job* waiting;
static struct job* done;

static void* worker(void* arg) {
  for (;;) {
    TM_BEGIN();
    struct job* job = waiting;
    if (job) waiting = job->next;
    TM_END();
    if (!job) return arg;
    job->output = job->input * job->input;
    TM_BEGIN();
    job->next = done;
    done = job;
    TM_END();
  }
}

int main(void) {
  for (int i = 0; i < 100; ++i) {
    struct job* job = malloc(sizeof *job);
    job->input = i;
    job->next = waiting;
    waiting = job;
  }
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, worker, NULL);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  return 0;
}
