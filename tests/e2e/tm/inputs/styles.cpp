#include <pthread.h>

#define TM_BEGIN() \
  library_begin(); \
  {
#define TM_END() \
  }              \
  library_end()

namespace stm {
void begin();
void end();
struct Scope {
  Scope();
  ~Scope();
};
template <class F>
void atomically(F f) {
  f();
}
}  // namespace stm

int a, b, c, d;

void macros() {
  int n = 0;
  TM_BEGIN();
  n = a;
  TM_END();
  TM_BEGIN();
  a = n + 1;
  TM_END();
}

void calls() {
  stm::begin();
  int n = b;
  stm::end();
  stm::begin();
  b = n + 1;
  stm::end();
}

void scopes() {
  int n = 0;
  {
    stm::Scope scope;
    n = c;
  }
  stm::Scope scope;
  c = n + 1;
}

void lambdas() {
  int n = 0;
  stm::atomically([&] { n = d; });
  stm::atomically([&] { d = n + 1; });
}

void* run(void*) {
  macros();
  calls();
  scopes();
  lambdas();
  return nullptr;
}

int main() {
  pthread_t threads[2];
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, run, nullptr);
  for (pthread_t& thread : threads) pthread_join(thread, nullptr);
}
