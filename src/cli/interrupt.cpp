#include "cli/interrupt.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace tomos {

namespace {

// The handler may read only what is never half-written: the path is complete before `has_path` says
// so.
std::array<char, 4096> unfinished;
std::atomic<bool> has_path = false;
std::atomic<void (*)()> last_action = nullptr;
std::atomic<bool> stopping = false;
std::atomic<bool> was_interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void (*inherited_pipe_action)(int) = SIG_DFL;

// Kept whole here, for the handler only writes.
std::array<char, 256> stopping_text;
std::size_t stopping_size = 0;

void on_signal(int signal) {
  if (signal == SIGINT && stopping && !was_interrupted.exchange(true)) {
    const int error = errno;
    if (::write(STDERR_FILENO, stopping_text.data(), stopping_size) < 0) errno = error;
    return;
  }
  remove_unfinished();
  if (void (*action)() = last_action) action();
  std::signal(signal, SIG_DFL);
  std::raise(signal);  // delivered when the handler returns
}

void handle(int signal) {
  struct sigaction old = {};
  // What the parent told us to ignore (nohup, a job in the background) stays ignored.
  if (::sigaction(signal, nullptr, &old) != 0 || old.sa_handler == SIG_IGN) return;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void stop_on_interrupt(const char* what_follows) {
  stopping_size =
      fmt::format_to_n(stopping_text.data(), stopping_text.size(),
                       "tomos: interrupted: {}; interrupt again to end at once\n", what_follows)
          .size;
  stopping = true;
  handle(SIGINT);
}

bool interrupted() { return was_interrupted.load(std::memory_order_relaxed); }

void die_of_interrupt() {
  remove_unfinished();
  std::signal(SIGINT, SIG_DFL);
  std::raise(SIGINT);
  std::abort();
}

void die_of_closed_pipe() { inherited_pipe_action = std::signal(SIGPIPE, SIG_DFL); }

void restore_inherited_signals() { std::signal(SIGPIPE, inherited_pipe_action); }

void remove_on_death(const std::string& path) {
  has_path = false;
  if (path.empty() || path.size() >= unfinished.size()) return;
  std::memcpy(unfinished.data(), path.c_str(), path.size() + 1);
  has_path = true;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) handle(signal);
}

void call_on_death(void (*action)()) {
  last_action = action;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) handle(signal);
}

void remove_unfinished() {
  if (has_path.exchange(false)) (void)::unlink(unfinished.data());
}

}  // namespace tomos
