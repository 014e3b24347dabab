// Increments a counter in two steps, and calls the library besides. With "fork" a child does so.
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

extern "C" void in_library(void (*work)());

namespace {

std::mutex mutex;
std::condition_variable changed;
int counter = 0;
int calls = 0;

void count_call() { ++calls; }

}  // namespace

int get() {
  const std::lock_guard<std::mutex> guard(mutex);
  return counter;
}

void set(int value) {
  const std::lock_guard<std::mutex> guard(mutex);
  counter = value;
  changed.notify_all();
}

void increment() { set(get() + 1); }

// The C++ library locks on behalf of its caller.
static void wait_for_increment() {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [] { return counter > 0; });
}

static void run() {
  const auto work = [] {
    increment();
    in_library(count_call);
  };
  std::thread one(work);
  std::thread two(work);
  wait_for_increment();
  one.join();
  two.join();
}

int main(int argc, char** /*argv*/) {
  run();
  if (argc == 1) return 0;
  const pid_t child = fork();
  if (child == 0) {
    run();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  return 0;
}
