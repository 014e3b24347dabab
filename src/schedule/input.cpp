#include "schedule/input.h"

#include <fcntl.h>

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

}  // namespace

bool await_poll(pollfd* files, std::uint64_t count, std::uint64_t deadline, Address pc) {
  const PollArguments arguments = {.files = files, .count = count};
  return wait_for_input({.ready = is_poll_ready, .arguments = &arguments}, deadline, pc) !=
         Outcome::kInterrupted;
}

bool await_file(int file, short events, Address pc) {
  // Who has asked not to be blocked will not be.
  const long flags = raw_call(SYS_fcntl, file, F_GETFL);
  if (flags < 0 || (flags & O_NONBLOCK) != 0) {
    take_turn({.kind = Kind::kOutside, .pc = pc});
    return true;
  }
  pollfd one = {.fd = file, .events = events, .revents = 0};
  return await_poll(&one, 1, kNever, pc);
}

bool await_select(int count, const fd_set* in, const fd_set* out, const fd_set* other,
                  std::uint64_t deadline, Address pc) {
  const SelectArguments arguments = {.count = count, .in = in, .out = out, .other = other};
  return wait_for_input({.ready = is_select_ready, .arguments = &arguments}, deadline, pc) !=
         Outcome::kInterrupted;
}

}  // namespace tomos::schedule
