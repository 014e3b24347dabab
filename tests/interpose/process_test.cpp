// Processes, as the interposition layer tells them. What a child was told is its exit status.
#include <dlfcn.h>
#include <errno.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "log.h"

namespace tomos::test {
namespace {

int status_of(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(InterposeProcess, Fork) {
  const std::size_t start = told_so_far();
  const pid_t child = fork();
  if (child == 0) _exit(told_since(start) == "before_fork in_child" ? 42 : 1);
  EXPECT_EQ(status_of(child), 42);
  EXPECT_EQ(told_since(start), "before_fork in_parent");
}

// The child finds the layer's tables whole, whatever another thread was doing to them.
TEST(InterposeProcess, ForkAmongThreads) {
  std::atomic<bool> stop = false;
  std::thread other([&] {
    while (!stop) std::thread([] {}).join();
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      std::thread([] { free(malloc(1)); }).join();
      _exit(0);
    }
    EXPECT_EQ(status_of(child), 0);
  }
  stop = true;
  other.join();
}

// The program's handlers may make and join threads; what they do is told on the right side. In a
// process of its own, for handlers stay.
TEST(InterposeProcess, ForkHandlers) {
  const pid_t child = fork();
  if (child == 0) {
    static const auto handler = [] { std::thread([] {}).join(); };
    pthread_atfork(handler, handler, handler);
    const std::size_t start = told_so_far();
    const pid_t grandchild = fork();
    const std::string told = told_since(start);
    if (grandchild == 0) _exit(told.find("in_child create") != std::string::npos ? 47 : 1);
    _exit(told.find("joined") < told.find("before_fork in_parent create") ? status_of(grandchild)
                                                                          : 2);
  }
  EXPECT_EQ(status_of(child), 47);
}

TEST(InterposeProcess, ExecThatFails) {
  const std::size_t start = told_so_far();
  char* const arguments[] = {nullptr};
  EXPECT_EQ(execv("/nonexistent/program", arguments), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(execl("/nonexistent/program", "one", "two", nullptr), -1);
  EXPECT_EQ(told_since(start), "before_exec exec_failed before_exec exec_failed");
}

TEST(InterposeProcess, ExecWithArguments) {
  const pid_t child = fork();
  if (child == 0) execlp("sh", "sh", "-c", "exit $1", "sh", "43", nullptr);
  EXPECT_EQ(status_of(child), 43);
}

TEST(InterposeProcess, ExecWithEnvironment) {
  char variable[] = "STATUS=44";
  char* const environment[] = {variable, nullptr};
  const pid_t child = fork();
  if (child == 0) execle("/bin/sh", "sh", "-c", "exit $STATUS", nullptr, environment);
  EXPECT_EQ(status_of(child), 44);
}

// Its child shares our memory: neither its exec nor its end is ours.
TEST(InterposeProcess, Vfork) {
  const std::size_t start = told_so_far();
  const pid_t child = vfork();  // NOLINT(bugprone-unsafe-functions): it is what is tested
  if (child == 0) _exit(45);
  EXPECT_EQ(status_of(child), 45);
  EXPECT_EQ(told_since(start), "");
}

TEST(InterposeProcess, QuickExit) {
  const pid_t child = fork();
  if (child == 0) {
    static std::size_t start = 0;
    start = told_so_far();
    at_quick_exit([] { _exit(told_since(start) == "process_exit" ? 46 : 1); });
    quick_exit(0);
  }
  EXPECT_EQ(status_of(child), 46);
}

TEST(InterposeProcess, Daemon) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const char told =
        daemon(1, 1) == 0 && told_since(0).ends_with("before_fork in_child") ? 'y' : 'n';
    if (write(ends[1], &told, 1) != 1) _exit(1);
    _exit(0);
  }
  EXPECT_EQ(status_of(child), 0);
  char told = 0;
  EXPECT_EQ(read(ends[0], &told, 1), 1);
  EXPECT_EQ(told, 'y');
  close(ends[0]);
  close(ends[1]);
}

TEST(InterposeProcess, Unloading) {
  void* const library = dlopen("libm.so.6", RTLD_NOW);
  ASSERT_NE(library, nullptr);
  const std::size_t start = told_so_far();
  EXPECT_EQ(dlclose(library), 0);
  EXPECT_EQ(told_since(start), "modules modules");
}

}  // namespace
}  // namespace tomos::test
