// Two threads take turns at a counter, more often than any disk of a test has room for, and the
// program then says how it went. With "die" it is killed in the middle.
#include <pthread.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

namespace {

constexpr int kTurns = 100'000;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
long counter = 0;

}  // namespace

long get() {
  pthread_mutex_lock(&mutex);
  const long value = counter;
  pthread_mutex_unlock(&mutex);
  return value;
}

void set(long value) {
  pthread_mutex_lock(&mutex);
  counter = value;
  pthread_mutex_unlock(&mutex);
}

void increment() { set(get() + 1); }

int main(int argc, char** argv) {
  const bool dies = argc > 1 && std::strcmp(argv[1], "die") == 0;
  const auto work = [dies] {
    for (int i = 0; i < kTurns; ++i) {
      increment();
      if (dies && i == kTurns / 2) std::raise(SIGKILL);
    }
  };
  std::thread one(work);
  std::thread two(work);
  one.join();
  two.join();
  std::puts(get() > 0 ? "done" : "wrong");
  return 5;
}
