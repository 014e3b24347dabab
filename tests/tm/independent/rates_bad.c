// Two rates that belong together are read one by one, while a third thread sets both.
#include <pthread.h>
#include <stdio.h>

static struct {
  double buy;
  double sell;
} rates;

static double buying(void) {
  double rate;
  __transaction_relaxed { rate = rates.buy; }
  return rate;
}

static double selling(void) {
  double rate;
  __transaction_relaxed {
    printf("asked\n");
    rate = rates.sell;
  }
  return rate;
}

static void* show(void* arg) {
  double buy = buying();
  double sell = selling();
  printf("margin %f\n", sell - buy);
  return arg;
}

static void* update(void* arg) {
  for (int i = 1; i < 100; ++i) {
    __transaction_relaxed {
      rates.buy = i;
      rates.sell = i * 1.1;
      printf("now %d\n", i);
    }
  }
  return arg;
}

int main(void) {
  pthread_t one, other;
  pthread_create(&one, NULL, show, NULL);
  pthread_create(&other, NULL, update, NULL);
  pthread_join(one, NULL);
  pthread_join(other, NULL);
  return 0;
}
