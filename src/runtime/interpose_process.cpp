// Processes: fork, exec, and the ends that run no handlers; and libraries that are unloaded.
//
// fork itself, and what calls it in libc, is seen by handlers. They are registered before all
// others: so they run next to the fork, and the program's own handlers are free to make and join
// threads.
//
// vfork is left alone. Its child runs in our memory while the thread that called it sleeps, so what
// the child does is told as done by that thread, and so it is; but its exec or _exit is not the end
// of this process: is_this_process() tells.
//
// dlopen is left alone too: it searches the RUNPATH of whoever called it, by return address, and
// would search ours. A library compiled by our wrappers calls __tsan_init when it is loaded, before
// its other constructors, and so says it itself.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "runtime/interpose.h"
#include "schedule/control.h"

using namespace tomos::runtime;
namespace schedule = tomos::schedule;

namespace {

constinit pid_t process = 0;

bool is_this_process() { return getpid() == process; }

// The tables are locked in the parent, so the child has them whole.
void prepare_fork() {
  schedule::before_fork();
  before_fork();
  lock_thread_table();
  lock_barrier_table();
}
void forked_in_parent() {
  unlock_barrier_table();
  unlock_thread_table();
  after_fork_in_parent();
  schedule::after_fork_in_parent();
}
void forked_in_child() {
  unlock_barrier_table();
  unlock_thread_table();
  process = getpid();
  after_fork_in_child();
  schedule::after_fork_in_child();
}

}  // namespace

namespace tomos::runtime {

void watch_process() {
  process = getpid();
  pthread_atfork(prepare_fork, forked_in_parent, forked_in_child);
}

}  // namespace tomos::runtime

// The one fork that runs no handlers, since it may be called in a signal handler. Its child may do
// nothing that needs the tables.
TOMOS_INTERPOSE(pid_t, _Fork) {
  before_fork();
  const pid_t child = REAL(_Fork)();
  if (child == 0) {
    process = getpid();
    after_fork_in_child();
  } else {
    after_fork_in_parent();
  }
  return child;
}

// In libc's own the parent would leave unseen.
TOMOS_EXPORT int daemon(int stay_in_directory, int keep_streams) {
  const pid_t child = fork();
  if (child < 0) return -1;
  if (child > 0) _exit(0);
  if (setsid() < 0) return -1;
  if (stay_in_directory == 0 && chdir("/") != 0) return -1;
  if (keep_streams != 0) return 0;
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return -1;
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) dup2(null, stream);
  if (null > STDERR_FILENO) close(null);
  return 0;
}

// --- Exec. Only a failure comes back.

namespace {

template <class Exec>
int tell_exec(Exec exec_real) {
  if (inside() || !is_this_process()) return exec_real();
  before_exec();
  const int result = exec_real();
  const int error = errno;
  exec_failed();
  errno = error;
  return result;
}

using Strings = char* const[];

}  // namespace

TOMOS_INTERPOSE(int, execve, const char* path, Strings arguments, Strings environment) {
  return tell_exec([&] { return REAL(execve)(path, arguments, environment); });
}
TOMOS_INTERPOSE(int, execv, const char* path, Strings arguments) {
  return tell_exec([&] { return REAL(execv)(path, arguments); });
}
TOMOS_INTERPOSE(int, execvp, const char* file, Strings arguments) {
  return tell_exec([&] { return REAL(execvp)(file, arguments); });
}
TOMOS_INTERPOSE(int, execvpe, const char* file, Strings arguments, Strings environment) {
  return tell_exec([&] { return REAL(execvpe)(file, arguments, environment); });
}
TOMOS_INTERPOSE(int, fexecve, int file, Strings arguments, Strings environment) {
  return tell_exec([&] { return REAL(fexecve)(file, arguments, environment); });
}
TOMOS_INTERPOSE(int, execveat, int folder, const char* path, Strings arguments, Strings environment,
                int flags) {
  return tell_exec([&] { return REAL(execveat)(folder, path, arguments, environment, flags); });
}

// The arguments as an array, on the caller's stack: an exec may follow a fork of many threads,
// where nothing may be allocated.
namespace {

std::size_t count_arguments(const char* first, va_list rest) {
  std::size_t count = 1;
  for (const char* next = first; next != nullptr; next = va_arg(rest, const char*)) ++count;
  return count;
}

void list_arguments(const char* first, va_list rest, std::size_t count, char** array) {
  array[0] = const_cast<char*>(first);
  for (std::size_t i = 1; i < count; ++i) array[i] = va_arg(rest, char*);
}

}  // namespace

TOMOS_EXPORT int execl(const char* path, const char* first, ...) {
  va_list rest;
  va_start(rest, first);
  const std::size_t count = count_arguments(first, rest);
  va_end(rest);
  auto** const arguments = static_cast<char**>(__builtin_alloca(count * sizeof(char*)));
  va_start(rest, first);
  list_arguments(first, rest, count, arguments);
  va_end(rest);
  return execv(path, arguments);
}
TOMOS_EXPORT int execlp(const char* file, const char* first, ...) {
  va_list rest;
  va_start(rest, first);
  const std::size_t count = count_arguments(first, rest);
  va_end(rest);
  auto** const arguments = static_cast<char**>(__builtin_alloca(count * sizeof(char*)));
  va_start(rest, first);
  list_arguments(first, rest, count, arguments);
  va_end(rest);
  return execvp(file, arguments);
}
TOMOS_EXPORT int execle(const char* path, const char* first, ...) {
  va_list rest;
  va_start(rest, first);
  const std::size_t count = count_arguments(first, rest);
  va_end(rest);
  auto** const arguments = static_cast<char**>(__builtin_alloca(count * sizeof(char*)));
  va_start(rest, first);
  list_arguments(first, rest, count, arguments);
  char** const environment = va_arg(rest, char**);
  va_end(rest);
  return execve(path, arguments, environment);
}

// --- Ends that run no destructors.

namespace {

void tell_end() {
  if (!is_this_process()) return;
  schedule::process_ends();
  if (!inside()) process_exit();
}

}  // namespace

TOMOS_INTERPOSE(void, _exit, int status) {
  tell_end();
  REAL(_exit)(status);
  __builtin_unreachable();
}
TOMOS_INTERPOSE(void, _Exit, int status) {
  tell_end();
  REAL(_Exit)(status);
  __builtin_unreachable();
}
TOMOS_INTERPOSE(void, quick_exit, int status) {
  tell_end();
  REAL(quick_exit)(status);
  __builtin_unreachable();
}

// --- Libraries.

// Told before too: what was loaded is on record with its place before another takes the place.
TOMOS_INTERPOSE(int, dlclose, void* library) {
  if (inside()) return REAL(dlclose)(library);
  modules_changed();
  const int error = REAL(dlclose)(library);
  modules_changed();
  return error;
}
