#include "schedule/input.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "schedule/clock.h"
#include "schedule/raw.h"
#include "schedule/task.h"

namespace tomos::schedule {

namespace {

struct PollArguments {
  pollfd* files;
  std::uint64_t count;
};

bool is_poll_ready(const InputWait& wait) {
  const auto& arguments = *static_cast<const PollArguments*>(wait.arguments);
  return raw_call(SYS_poll, reinterpret_cast<long>(arguments.files),
                  static_cast<long>(arguments.count), 0) != 0;
}

struct SelectArguments {
  int count;
  const fd_set* in;
  const fd_set* out;
  const fd_set* other;
};

bool is_select_ready(const InputWait& wait) {
  const auto& arguments = *static_cast<const SelectArguments*>(wait.arguments);
  fd_set sets[3];
  const fd_set* const asked[3] = {arguments.in, arguments.out, arguments.other};
  long pointers[3] = {};
  for (int i = 0; i < 3; ++i) {
    if (asked[i] == nullptr) continue;
    sets[i] = *asked[i];
    pointers[i] = reinterpret_cast<long>(&sets[i]);
  }
  timespec none = {};
  return raw_call(SYS_pselect6, arguments.count, pointers[0], pointers[1], pointers[2],
                  reinterpret_cast<long>(&none)) != 0;
}

// Of a socket, if it has one: natively the call would end then, with EAGAIN.
std::uint64_t deadline_of(int file, short events) {
  timeval time = {};
  std::uint32_t size = sizeof(time);
  const long error =
      raw_call(SYS_getsockopt, file, SOL_SOCKET, (events & POLLIN) != 0 ? SO_RCVTIMEO : SO_SNDTIMEO,
               reinterpret_cast<long>(&time), reinterpret_cast<long>(&size));
  if (error != 0 || (time.tv_sec == 0 && time.tv_usec == 0)) return kNever;
  const timespec precise = {.tv_sec = time.tv_sec, .tv_nsec = time.tv_usec * 1000};
  return deadline_after(&precise);
}

struct SignalArguments {
  std::uint64_t signals;
  const Task* task;
};

// The kernel tells a thread of its own signals and of the process's, not of another thread's.
bool is_signal_pending(const InputWait& wait) {
  const auto& arguments = *static_cast<const SignalArguments*>(wait.arguments);
  if (arguments.task->signal_sent) return true;
  if (self == nullptr) return (pending_signals(arguments.task->tid) & arguments.signals) != 0;
  std::uint64_t pending = 0;
  raw_call(SYS_rt_sigpending, reinterpret_cast<long>(&pending), sizeof(pending));
  return (pending & arguments.signals) != 0;
}

}  // namespace

bool await_poll(pollfd* files, std::uint64_t count, std::uint64_t deadline, Address pc) {
  const PollArguments arguments = {.files = files, .count = count};
  return wait_for_input({.ready = is_poll_ready, .arguments = &arguments}, deadline, pc) !=
         Outcome::kInterrupted;
}

Outcome await_file(int file, short events, Address pc) {
  // Who has asked not to be blocked will not be.
  const long flags = raw_call(SYS_fcntl, file, F_GETFL);
  if (flags < 0 || (flags & O_NONBLOCK) != 0) {
    take_turn({.kind = Kind::kOutside, .pc = pc});
    return Outcome::kGo;
  }
  pollfd one = {.fd = file, .events = events, .revents = 0};
  const PollArguments arguments = {.files = &one, .count = 1};
  const InputWait wait = {.ready = is_poll_ready, .arguments = &arguments};
  return wait_for_input(wait, is_poll_ready(wait) ? kNever : deadline_of(file, events), pc);
}

bool await_select(int count, const fd_set* in, const fd_set* out, const fd_set* other,
                  std::uint64_t deadline, Address pc) {
  const SelectArguments arguments = {.count = count, .in = in, .out = out, .other = other};
  return wait_for_input({.ready = is_select_ready, .arguments = &arguments}, deadline, pc) !=
         Outcome::kInterrupted;
}

namespace {

constinit std::uint64_t connections_made = 0;
constinit std::uint64_t connections_accepted = 0;

}  // namespace

void connecting() {
  const AtWork at_work;
  ++connections_made;
}

void accepted() {
  const AtWork at_work;
  const bool from_outside = ++connections_accepted > connections_made;
  if (from_outside && world.task_count > 1) let_go(*self, "a connection came from outside");
}

Outcome await_signal(const sigset_t& signals, std::uint64_t deadline, Address pc) {
  SignalArguments arguments = {.signals = 0, .task = self};
  __builtin_memcpy(&arguments.signals, &signals, sizeof(arguments.signals));
  const Outcome outcome = wait_for_input(
      {.ready = is_signal_pending, .arguments = &arguments, .by_signal = true}, deadline, pc);
  const AtWork at_work;
  self->signal_sent = false;
  return outcome;
}

void signal_sent(std::uint64_t handle) {
  Task* const task = task_of(handle);
  const AtWork at_work;
  if (task != nullptr) task->signal_sent = true;
}

}  // namespace tomos::schedule
