#include "campaign/orphans.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <string_view>

namespace tomos::campaign {

namespace {

// Enough for some hundred; if there are more, they come up when these are gone.
constexpr std::size_t kMostAtOnce = 256;
struct Children {
  std::array<pid_t, kMostAtOnce> pids;
  std::size_t count = 0;
};

// By system calls only. The runner has one thread, so they are all its.
Children children() {
  Children result = {};
  const int file = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (file < 0) return result;
  std::array<char, 4096> text;
  pid_t number = 0;
  for (ssize_t length = 0; (length = ::read(file, text.data(), text.size())) > 0;) {
    for (const char digit : std::string_view(text.data(), static_cast<std::size_t>(length))) {
      if (digit != ' ') {
        number = number * 10 + (digit - '0');
      } else {
        if (result.count < result.pids.size()) result.pids[result.count++] = number;
        number = 0;
      }
    }
  }
  ::close(file);
  return result;
}

void end(pid_t process) {
  (void)::kill(process, SIGKILL);
  while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) continue;
}

// A process that makes others faster than they can be ended has the last word.
constexpr int kMostRounds = 100;

bool was_started_with(pid_t process, const std::string& area) {
  std::ifstream file(fmt::format("/proc/{}/environ", process), std::ios::binary);
  const std::string environment{std::istreambuf_iterator<char>(file), {}};
  const std::string wanted = "TOMOS_SCHEDULE=" + area + '\0';
  return environment.starts_with(wanted) || environment.contains('\0' + wanted);
}

}  // namespace

void adopt_orphans() { (void)::prctl(PR_SET_CHILD_SUBREAPER, 1); }

void end_orphans(const std::string& area, std::span<const pid_t> others) {
  for (int round = 0; round < kMostRounds; ++round) {
    const Children found = children();
    bool any = false;
    for (const pid_t process : std::span(found.pids).first(found.count)) {
      if (std::ranges::find(others, process) != others.end()) continue;
      if (::waitpid(process, nullptr, WNOHANG) != 0) continue;  // it has ended
      if (!area.empty() && !was_started_with(process, area)) continue;
      end(process);
      any = true;  // and its children are ours now
    }
    if (!any) return;
  }
}

void end_children() {
  for (int round = 0; round < kMostRounds; ++round) {
    const Children found = children();
    if (found.count == 0) return;
    for (const pid_t process : std::span(found.pids).first(found.count)) end(process);
  }
}

}  // namespace tomos::campaign
