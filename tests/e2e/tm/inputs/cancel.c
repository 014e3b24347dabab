// Transactions that are cancelled, so that libitm runs all of them. The lost update is one of two
// transactions.
#include <pthread.h>
#include <stdio.h>

static int scratch;
static int total;

int get(void) {
  int result;
  __transaction_atomic { result = total; }
  return result;
}

void set(int value) {
  __transaction_atomic { total = value; }
}

void add_one(void) { set(get() + 1); }

void try_and_undo(void) {
  __transaction_atomic {
    scratch = 100;
    __transaction_cancel;
  }
}

static void* run(void* argument) {
  try_and_undo();
  add_one();
  return argument;
}

int main(void) {
  pthread_t one;
  pthread_t other;
  pthread_create(&one, NULL, run, NULL);
  pthread_create(&other, NULL, run, NULL);
  pthread_join(one, NULL);
  pthread_join(other, NULL);
  printf("scratch %d\n", scratch);
  return 0;
}
