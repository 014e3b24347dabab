// fork while other threads run: the child has one thread, may make others, and its status comes
// back.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "check.h"

int main() {
  std::mutex mutex;
  std::atomic<bool> stop = false;
  int count = 0;
  std::thread busy([&] {
    while (!stop) {
      std::lock_guard lock(mutex);
      count++;
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 3; i++) {
    mutex.lock();  // so that it is in a known state in the child
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      mutex.unlock();
      int sum = 0;
      std::thread a([&] {
        std::lock_guard lock(mutex);
        sum += 20;
      });
      {
        std::lock_guard lock(mutex);
        sum += i;
      }
      a.join();
      _exit(sum);
    }
    mutex.unlock();
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 20 + i);
  }
  stop = true;
  busy.join();
  return ok();
}
