#include <pthread.h>
#include <stdio.h>

static int total;

static void* run(void* arg) {
  int n;
  __transaction_atomic { n = total; }
  n += *(int*)arg;
  __transaction_atomic { total = n; }
  return NULL;
}

static void* peek(void* arg) {
  printf("%d\n", total);
  return arg;
}

int main(void) {
  int one = 1;
  pthread_t a, b, c;
  total = 0;
  pthread_create(&a, NULL, run, &one);
  pthread_create(&b, NULL, run, &one);
  pthread_create(&c, NULL, peek, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  pthread_join(c, NULL);
  return __extension__ total;
}
