// Calls that may block for reasons the scheduler does not see, and the one that programs make
// futexes with. Only the scheduler cares: the recorder is not told.
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/interpose.h"
#include "schedule/clock.h"
#include "schedule/input.h"
#include "schedule/operations.h"

using namespace tomos::runtime;
namespace schedule = tomos::schedule;

namespace {

bool is_known_futex(int operation) {
  const int command = operation & FUTEX_CMD_MASK;
  return command == FUTEX_WAIT || command == FUTEX_WAKE || command == FUTEX_WAIT_BITSET ||
         command == FUTEX_WAKE_BITSET;
}

}  // namespace

// Six arguments whatever the call: more than it has are not looked at.
TOMOS_INTERPOSE(long, syscall, long number, ...) {
  va_list list;
  va_start(list, number);
  long arguments[6];
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  const auto [a, b, c, d, e, f] = arguments;
  if (number == SYS_futex && schedule::controlled() && is_known_futex(static_cast<int>(b))) {
    return schedule::futex(reinterpret_cast<std::uint32_t*>(a), static_cast<int>(b),
                           static_cast<std::uint32_t>(c), reinterpret_cast<const timespec*>(d),
                           static_cast<std::uint32_t>(f), TOMOS_CALLER());
  }
  const long result = REAL(syscall)(number, a, b, c, d, e, f);
  if (number == SYS_futex && schedule::self != nullptr) schedule::look_again();
  return result;
}

// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are lists in parentheses.
#define TOMOS_OUTSIDE(result, name, parameters, arguments)  \
  TOMOS_INTERPOSE(result, name, TOMOS_UNPACK parameters) {  \
    const schedule::Outside outside(TOMOS_CALLER(), #name); \
    return REAL(name) arguments;                            \
  }
#define TOMOS_UNPACK(...) __VA_ARGS__
// NOLINTEND(bugprone-macro-parentheses)

TOMOS_OUTSIDE(pid_t, wait, (int* status), (status))
TOMOS_OUTSIDE(pid_t, waitpid, (pid_t process, int* status, int options), (process, status, options))
TOMOS_OUTSIDE(pid_t, wait3, (int* status, int options, rusage* usage), (status, options, usage))
TOMOS_OUTSIDE(pid_t, wait4, (pid_t process, int* status, int options, rusage* usage),
              (process, status, options, usage))
TOMOS_OUTSIDE(int, waitid, (idtype_t type, id_t id, siginfo_t* info, int options),
              (type, id, info, options))
TOMOS_OUTSIDE(int, sigsuspend, (const sigset_t* signals), (signals))
TOMOS_OUTSIDE(int, pause, (), ())
TOMOS_OUTSIDE(int, flock, (int file, int operation), (file, operation))
TOMOS_OUTSIDE(int, system, (const char* command), (command))
TOMOS_OUTSIDE(int, pclose, (FILE * stream), (stream))

// Mostly to this machine, and over at once; if not, the watch will see.
TOMOS_INTERPOSE(int, connect, int socket, const sockaddr* to, socklen_t size) {
  if (schedule::controlled()) {
    schedule::take_turn({.kind = schedule::Kind::kOutside, .pc = TOMOS_CALLER()});
    schedule::connecting();
  }
  return REAL(connect)(socket, to, size);
}

// --- Cancellation.

TOMOS_INTERPOSE(int, pthread_cancel, pthread_t thread) {
  if (schedule::controlled()) {
    schedule::take_turn({.kind = schedule::Kind::kNotify, .pc = TOMOS_CALLER()});
    schedule::task_cancelled(thread);
  }
  return REAL(pthread_cancel)(thread);
}
TOMOS_INTERPOSE(void, pthread_testcancel) {
  if (schedule::controlled()) {
    schedule::take_turn({.kind = schedule::Kind::kYield, .pc = TOMOS_CALLER()});
  }
  REAL(pthread_testcancel)();
}

// --- Signals: their handlers may wake somebody, in a thread that has not got the turn.

namespace {

void note_handler(bool is_handler) {
  if (is_handler && schedule::self != nullptr) schedule::signals_come();
}

}  // namespace

TOMOS_INTERPOSE(int, sigaction, int signal, const struct sigaction* action,
                struct sigaction* before) {
  note_handler(action != nullptr && action->sa_handler != SIG_DFL &&
               action->sa_handler != SIG_IGN && schedule::controlled());
  return REAL(sigaction)(signal, action, before);
}
TOMOS_INTERPOSE(sighandler_t, signal, int number, sighandler_t handler) {
  note_handler(handler != SIG_DFL && handler != SIG_IGN && schedule::controlled());
  return REAL(signal)(number, handler);
}
TOMOS_INTERPOSE(int, pthread_kill, pthread_t thread, int signal) {
  if (schedule::controlled()) {
    schedule::take_turn({.kind = schedule::Kind::kNotify, .pc = TOMOS_CALLER()});
    if (signal != 0) schedule::signal_sent(thread);
  }
  return REAL(pthread_kill)(thread, signal);
}

// Waits for signals. They stay blocked, so that they are pending when the turn comes.
TOMOS_REAL(int, sigtimedwait, const sigset_t*, siginfo_t*, const timespec*);

namespace {

int wait_for_signal(const sigset_t* signals, siginfo_t* info, std::uint64_t deadline, Address pc) {
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, signals, &before);
  int result = -1;
  schedule::Outcome outcome = schedule::Outcome::kGo;
  while (result < 0 && outcome == schedule::Outcome::kGo) {
    outcome = schedule::await_signal(*signals, deadline, pc);
    constexpr timespec kNow = {};
    result = REAL(sigtimedwait)(signals, info, &kNow);
    if (result < 0 && errno != EAGAIN) break;
  }
  const int error = outcome == schedule::Outcome::kInterrupted ? EINTR : errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (result < 0) errno = error;
  return result;
}

}  // namespace

TOMOS_INTERPOSE(int, sigwait, const sigset_t* signals, int* which) {
  if (!schedule::controlled()) return REAL(sigwait)(signals, which);
  for (;;) {
    const int number = wait_for_signal(signals, nullptr, schedule::kNever, TOMOS_CALLER());
    if (number < 0 && errno == EINTR) continue;
    if (number < 0) return errno;
    *which = number;
    return 0;
  }
}
TOMOS_INTERPOSE(int, sigwaitinfo, const sigset_t* signals, siginfo_t* info) {
  if (!schedule::controlled()) return REAL(sigwaitinfo)(signals, info);
  return wait_for_signal(signals, info, schedule::kNever, TOMOS_CALLER());
}
TOMOS_EXPORT int sigtimedwait(const sigset_t* signals, siginfo_t* info, const timespec* time) {
  if (!schedule::controlled()) return REAL(sigtimedwait)(signals, info, time);
  return wait_for_signal(signals, info, schedule::deadline_after(time), TOMOS_CALLER());
}

// --- Timers run on the machine's time.

TOMOS_INTERPOSE(int, timer_settime, timer_t timer, int flags, const itimerspec* time,
                itimerspec* before) {
  if (schedule::controlled()) schedule::timers_come();
  return REAL(timer_settime)(timer, flags, time, before);
}
TOMOS_INTERPOSE(int, setitimer, __itimer_which_t which, const itimerval* time, itimerval* before) {
  if (schedule::controlled()) schedule::timers_come();
  return REAL(setitimer)(which, time, before);
}
TOMOS_INTERPOSE(unsigned, alarm, unsigned seconds) {
  if (schedule::controlled()) schedule::timers_come();
  return REAL(alarm)(seconds);
}
