// A program for the tests of the command line: its first argument says what it does.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

namespace {

std::mutex counter_mutex;
int counter = 0;

}  // namespace

int get() {
  const std::lock_guard<std::mutex> guard(counter_mutex);
  return counter;
}

void set(int value) {
  const std::lock_guard<std::mutex> guard(counter_mutex);
  counter = value;
}

void increment() { set(get() + 1); }

static void violate() {
  const auto work = [] {
    increment();
    increment();
  };
  std::thread one(work);
  std::thread two(work);
  one.join();
  two.join();
}

// A thread that ends with a lock that it holds.
static void hold() {
  std::thread([] {
    counter_mutex.lock();
    ++counter;
  }).join();
}

static int make_child() {
  const pid_t child = fork();
  if (child == 0) {
    violate();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

// Until a signal comes.
[[noreturn]] static void wait_for_signal() {
  std::puts("ready");
  std::fflush(stdout);
  for (;;) pause();
}

static void on_interrupt(int /*signal*/) {
  constexpr char kText[] = "handled\n";
  if (write(STDOUT_FILENO, kText, sizeof(kText) - 1) < 0) _exit(1);
  _exit(7);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "nothing";
  const auto is = [what](const char* name) { return std::strcmp(what, name) == 0; };
  if (is("violate")) violate();
  if (is("hold")) hold();
  if (is("arguments")) {
    for (int i = 2; i < argc; ++i) std::printf("<%s>\n", argv[i]);
  }
  if (is("copy")) {
    for (int c = std::getchar(); c != EOF; c = std::getchar()) std::putchar(c);
    std::fputs("to stderr\n", stderr);
  }
  if (is("environment")) {
    for (char** entry = environ; *entry != nullptr; ++entry) {
      if (std::strncmp(*entry, "TOMOS_", 6) == 0) std::puts(*entry);
    }
  }
  if (is("exit")) return std::atoi(argv[2]);
  if (is("die")) std::raise(std::atoi(argv[2]));
  if (is("violate-and-die")) {
    violate();
    std::raise(SIGKILL);
  }
  if (is("fork")) return make_child();
  if (is("wait")) wait_for_signal();
  if (is("handle")) {
    std::signal(SIGINT, on_interrupt);
    wait_for_signal();
  }
  if (is("ignored")) {
    std::puts(std::signal(SIGPIPE, SIG_DFL) == SIG_IGN ? "SIGPIPE is ignored" : "SIGPIPE kills");
  }
  return 0;
}
