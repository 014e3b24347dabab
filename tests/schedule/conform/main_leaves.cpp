// main ends with pthread_exit; the last thread's return ends the process, with status 0.
#include <pthread.h>

#include <mutex>
#include <thread>

#include "check.h"

static std::mutex mutex;
static int left = 3;

static void work() {
  std::lock_guard lock(mutex);
  if (--left == 0) ok();
}

int main() {
  for (int i = 0; i < 3; i++) std::thread(work).detach();
  pthread_exit(nullptr);
}
