// Starts processes many hundred times a second: by vfork, which copies nothing of this one.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>

#include "campaign/program.h"

namespace tomos::campaign {

namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(const std::vector<std::string>& additions) {
  const auto name = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
  std::vector<std::string> result = additions;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    bool replaced = false;
    for (const std::string& added : additions) replaced = replaced || name(added) == name(*entry);
    if (!replaced) result.emplace_back(*entry);
  }
  return result;
}

// What must be changed between vfork and exec, by system calls only: the memory is our own.
// Returns if the program could not be started.
void become(const char* path, char* const* argv, char* const* envp, int output,
            const sigset_t& signals) {
  (void)::setpgid(0, 0);
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  (void)::personality(ADDR_NO_RANDOMIZE);
  const rlimit none = {.rlim_cur = 0, .rlim_max = 0};
  (void)::setrlimit(RLIMIT_CORE, &none);
  const int input = ::open("/dev/null", O_RDONLY);
  if (input >= 0) {
    ::dup2(input, STDIN_FILENO);
    if (input != STDIN_FILENO) ::close(input);
  }
  if (output >= 0) {
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
  }
  // Handlers would go by themselves, but what this process ignores would stay ignored.
  for (const int signal : {SIGPIPE, SIGINT, SIGQUIT, SIGTERM, SIGHUP}) {
    std::signal(signal, SIG_DFL);
  }
  ::pthread_sigmask(SIG_SETMASK, &signals, nullptr);
  ::execve(path, argv, envp);
}

}  // namespace

Launch::Launch(const Program& program, const std::string& area, int output)
    : path_(program.path()),
      words_(program.words()),
      environment_(
          environment_with(area.empty() ? std::vector<std::string>() : program.additions(area))),
      argv_(pointers(words_)),
      envp_(pointers(environment_)),
      output_(output) {}

Result<pid_t> Launch::start() const {
  // No handler of ours may run in the child, which shares our memory.
  sigset_t all;
  sigset_t old;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &old);
  volatile int error = 0;
  // The memory is copied by fork, and posix_spawn can set too little. In the child only system
  // calls follow.
  // NOLINTNEXTLINE(bugprone-unsafe-functions,clang-analyzer-security.insecureAPI.vfork)
  const pid_t pid = ::vfork();
  if (pid == 0) {
    // NOLINTNEXTLINE(clang-analyzer-unix.Vfork)
    become(path_.c_str(), argv_.data(), envp_.data(), output_, old);
    error = errno;
    ::_exit(127);
  }
  const int fork_error = errno;
  ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
  if (pid > 0 && error == 0) return pid;
  if (pid > 0) ::waitpid(pid, nullptr, 0);
  const int reason = pid < 0 ? fork_error : error;
  return std::unexpected(Error{
      .where = words_.front(),
      .what = "cannot be started: " + std::error_code(reason, std::generic_category()).message(),
      .remedy =
          pid < 0 ? "Run fewer trials at a time (--jobs)." : "Try to start it without tomos."});
}

}  // namespace tomos::campaign
