// Deposit and withdrawal read the balance outside the lock that they then write under, in C.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100;

static int look(void) {
  pthread_mutex_lock(&lock);
  const int seen = balance;
  pthread_mutex_unlock(&lock);
  return seen;
}

static void put(int value) {
  pthread_mutex_lock(&lock);
  balance = value;
  pthread_mutex_unlock(&lock);
}

static void *deposit(void *unused) {
  put(look() + 50);
  return unused;
}

static void *withdraw(void *unused) {
  put(look() - 30);
  return unused;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, deposit, NULL);
  pthread_create(&threads[1], NULL, withdraw, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  assert(balance == 120);
  puts("ok");
}
