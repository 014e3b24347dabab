#include <pthread.h>

int shared_;
int other;
int get() { return __transaction_atomic(shared_); }
void set(int n) __transaction_atomic { shared_ = n; }

void forms() {
  int n = get();
  set(n + 1);
}

void words() {
  int n = 0;
  synchronized { n = other; }
  if (n > 0) atomic_commit {
      other = n + 1;
    }
  __transaction_relaxed { other = 0; }
}

int safe(int n) __attribute__((transaction_safe));
int safe(int n) { return n; }

void* run(void*) {
  forms();
  words();
  return nullptr;
}

int main() {
  pthread_t a, b;
  pthread_create(&a, nullptr, run, nullptr);
  pthread_create(&b, nullptr, run, nullptr);
  pthread_join(a, nullptr);
  pthread_join(b, nullptr);
  return shared_ + other;
}
