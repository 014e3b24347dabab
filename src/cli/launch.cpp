#include "cli/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>

#include "cli/interrupt.h"
#include "cli/options.h"

namespace tomos {

namespace {

constexpr char kMark = '=';

std::atomic<pid_t> child = 0;
static_assert(std::atomic<pid_t>::is_always_lock_free);

void pass_to_child(int signal) {
  const int error = errno;
  if (const pid_t pid = child; pid > 0) (void)::kill(pid, signal);
  errno = error;
}

// Sets a signal's action for the life of the object, and knows what it was.
class Action {
 public:
  Action(int signal, void (*handler)(int)) : signal_(signal) {
    ::sigaction(signal, nullptr, &old_);
    // What our parent told us to ignore (nohup) we neither take nor pass on.
    if (old_.sa_handler == SIG_IGN) return;
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  }
  Action(const Action&) = delete;
  Action& operator=(const Action&) = delete;
  ~Action() { ::sigaction(signal_, &old_, nullptr); }

  // In the child, for the program that is to come: a handler of ours must not run there.
  void reset() const { std::signal(signal_, old_.sa_handler == SIG_IGN ? SIG_IGN : SIG_DFL); }

 private:
  int signal_;
  struct sigaction old_ = {};
};

std::vector<std::string> merged_environment(const std::vector<std::string>& additions) {
  const auto name = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const bool replaced = std::ranges::any_of(
        additions, [&](const std::string& added) { return name(added) == name(*entry); });
    if (!replaced) result.emplace_back(*entry);
  }
  for (const std::string& added : additions) {
    if (added.contains('=')) result.push_back(added);
  }
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

Error cannot_start(const std::string& program, int error) {
  const bool path = program.contains('/');
  std::string remedy;
  if (error == ENOENT) {
    remedy =
        path ? "Build it with tomos-c++ (or tomos-cc), or correct the path."
             : fmt::format("It is not in PATH. For a program in this folder write ./{}.", program);
  } else if (error == EACCES) {
    remedy = fmt::format(
        "It must be a file that may be executed: chmod +x {}, or name the program "
        "itself.",
        quoted(program));
  } else {
    remedy = "Try to start it without tomos.";
  }
  return {.where = program,
          .what = "cannot be started: " + std::error_code(error, std::generic_category()).message(),
          .remedy = remedy};
}

// Waits for the end of the process. When it stops (Ctrl-Z, or by its own wish) so do we, and when
// we are continued so is it.
int wait_for(pid_t pid) {
  for (;;) {
    int status = 0;
    if (::waitpid(pid, &status, WUNTRACED) < 0) {
      if (errno == EINTR) continue;
      return 0;
    }
    if (!WIFSTOPPED(status)) return status;
    (void)::raise(SIGSTOP);
    (void)::kill(pid, SIGCONT);
  }
}

}  // namespace

std::vector<std::string> mark_program(std::vector<std::string> arguments) {
  const auto mark = std::ranges::find(arguments, "--");
  if (mark == arguments.end()) return arguments;
  for (auto word = mark + 1; word != arguments.end(); ++word) word->insert(word->begin(), kMark);
  return arguments;
}

Result<std::vector<std::string>> program_words(const std::vector<std::string>& marked,
                                               const std::string& command) {
  std::vector<std::string> words;
  for (const std::string& word : marked) {
    if (!word.starts_with(kMark)) {
      return std::unexpected(
          Error{.where = command,
                .what = fmt::format("'{}' does not stand behind --", word),
                .remedy = fmt::format("Write -- before the program, so that its options are not "
                                      "taken for ours: tomos {} -- {}",
                                      command, quoted(word))});
    }
    words.push_back(word.substr(1));
  }
  if (words.front().empty()) {
    return std::unexpected(Error{.where = command,
                                 .what = "the program's name is empty",
                                 .remedy = "Name the program behind --."});
  }
  return words;
}

Result<int> launch(const std::vector<std::string>& words,
                   const std::vector<std::string>& environment) {
  std::vector<std::string> arguments = words;
  std::vector<std::string> variables = merged_environment(environment);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(variables);

  // Closed by a successful exec; otherwise the reason comes through it.
  std::array<int, 2> failure = {};
  if (::pipe2(failure.data(), O_CLOEXEC) != 0) {
    return std::unexpected(cannot_start(words[0], errno));
  }
  const Action on_interrupt(SIGINT, SIG_IGN);
  const Action on_quit(SIGQUIT, SIG_IGN);
  const Action on_terminate(SIGTERM, pass_to_child);
  const Action on_hangup(SIGHUP, pass_to_child);
  // What comes before we know our child waits until we do, or it would be passed to nobody.
  sigset_t all;
  sigset_t old;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &old);
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (const Action* action : {&on_interrupt, &on_quit, &on_terminate, &on_hangup}) {
      action->reset();
    }
    restore_inherited_signals();
    ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
    ::execvpe(argv[0], argv.data(), envp.data());
    const int error = errno;
    (void)!::write(failure[1], &error, sizeof(error));
    ::_exit(127);
  }
  const int fork_error = errno;
  child = pid;
  ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
  ::close(failure[1]);
  if (pid < 0) {
    ::close(failure[0]);
    return std::unexpected(cannot_start(words[0], fork_error));
  }
  int error = 0;
  ssize_t got = 0;
  do {
    got = ::read(failure[0], &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  ::close(failure[0]);
  const int status = wait_for(pid);
  child = 0;
  if (got == sizeof(error)) return std::unexpected(cannot_start(words[0], error));
  return status;
}

std::string describe_status(int status) {
  if (WIFEXITED(status)) return fmt::format("exit status {}", WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  return fmt::format("signal {} ({})", signal, ::sigdescr_np(signal) ? ::sigdescr_np(signal) : "?");
}

int pass_on(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  const int signal = WTERMSIG(status);
  // The program has left its core; ours would overwrite it.
  const rlimit none = {.rlim_cur = 0, .rlim_max = 0};
  (void)::setrlimit(RLIMIT_CORE, &none);
  std::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  std::raise(signal);
  return 128 + signal;
}

std::string find_program(const std::string& name) {
  const auto executable = [](const std::string& path) {
    struct stat about = {};
    return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) &&
           ::access(path.c_str(), X_OK) == 0;
  };
  if (name.contains('/')) return executable(name) ? name : "";
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): nothing here sets it
  for (const std::string& folder : split(path == nullptr ? "/bin:/usr/bin" : path, ':')) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (executable(candidate)) return candidate;
  }
  return "";
}

}  // namespace tomos
