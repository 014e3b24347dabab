// A signal handler that counts, in whatever thread the signal comes.
// FINDS: label=on_signal variable=hits at=hit
// PRINTS: done
#include <atomic>
#include <csignal>
#include <cstdio>
#include <mutex>

#include "threads.h"

#ifdef BAD
volatile std::sig_atomic_t hits;
#else
std::atomic<int> hits;
#endif
std::mutex mutex;
int work_done;

void on_signal(int) {
#ifdef BAD
  hits = hits + 1;  // @hit
#else
  hits.fetch_add(1);
#endif
}

void work_with_interruption() {
  std::lock_guard lock(mutex);
  const int before = work_done;
  std::raise(SIGUSR2);
  work_done = before + 1;
}

static void work() {
  std::raise(SIGUSR1);
  work_with_interruption();
}

int main() {
  std::signal(SIGUSR1, on_signal);
  std::signal(SIGUSR2, [](int) {});
  in_threads({work, work});
  std::puts("done");
}
