#include "campaign/runner.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include "campaign/area_file.h"
#include "campaign/orphans.h"
#include "campaign/output_file.h"

namespace tomos::campaign {

namespace {

// The process groups that live, for kill_everything(): the others are killed by who started them.
constexpr std::size_t kMostGroups = 1024;
std::array<std::atomic<pid_t>, kMostGroups> groups;
static_assert(std::atomic<pid_t>::is_always_lock_free);

void note_group(pid_t group) {
  for (auto& place : groups) {
    pid_t nobody = 0;
    if (place.compare_exchange_strong(nobody, group)) return;
  }
}

void forget_group(pid_t group) {
  for (auto& place : groups) {
    pid_t known = group;
    if (place.compare_exchange_strong(known, 0)) return;
  }
}

// How often a program that prints without end is looked after.
constexpr std::chrono::milliseconds kRound(100);

}  // namespace

void kill_everything() {
  for (const auto& place : groups) {
    if (const pid_t group = place; group > 0) (void)::kill(-group, SIGKILL);
  }
  end_children();
}

struct Runner::Worker {
  Worker(AreaFile area_file, OutputFile output_file, const Program& program, Output kind)
      : area(std::move(area_file)),
        output(std::move(output_file)),
        controlled(program, area.path(), kind == Output::kKept ? output.descriptor() : -1),
        native(program, "", kind == Output::kKept ? output.descriptor() : -1) {}

  AreaFile area;
  OutputFile output;
  Launch controlled;
  Launch native;

  Order order;
  pid_t pid = 0;  // 0: nothing runs
  int descriptor = -1;
  Clock::time_point deadline;
  End killed = End::kExited;  // kTimedOut, kStopped: by us
};

Runner::Runner(std::vector<std::unique_ptr<Worker>> workers, const Options& options)
    : workers_(std::move(workers)), options_(options) {}
Runner::Runner(Runner&&) noexcept = default;
Runner::~Runner() { stop_all(); }

Result<Runner> Runner::make(const Program& program, const Options& options) {
  adopt_orphans();
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned i = 0; i < options.jobs; ++i) {
    auto area = AreaFile::make();
    if (!area) return std::unexpected(area.error());
    auto output = OutputFile::make();
    if (!output) return std::unexpected(output.error());
    workers.push_back(
        std::make_unique<Worker>(std::move(*area), std::move(*output), program, options.output));
  }
  return Runner(std::move(workers), options);
}

bool Runner::is_full() const {
  return std::ranges::all_of(workers_, [](const auto& worker) { return worker->pid > 0; });
}

bool Runner::is_idle() const {
  return std::ranges::all_of(workers_, [](const auto& worker) { return worker->pid == 0; });
}

Result<void> Runner::start(Order order) {
  const auto free = std::ranges::find_if(workers_, [](const auto& one) { return one->pid == 0; });
  Worker& worker = **free;
  worker.order = std::move(order);
  worker.area.prepare(worker.order);
  worker.output.clear();
  const Launch& launch = worker.order.scheduled ? worker.controlled : worker.native;
  const auto pid = launch.start();
  if (!pid) return std::unexpected(pid.error());
  note_group(*pid);
  worker.pid = *pid;
  worker.descriptor = static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0));
  worker.deadline = Clock::now() + options_.timeout;
  worker.killed = End::kExited;
  if (worker.descriptor >= 0) return {};
  const int error = errno;
  finish(worker);
  return std::unexpected(Error{.where = "fuzz",
                               .what = "cannot watch the program: " +
                                       std::error_code(error, std::generic_category()).message(),
                               .remedy = "Run fewer trials at a time (--jobs), or raise the limit "
                                         "on open files (ulimit -n)."});
}

// The process has ended, or is about to: it has been killed.
Trial Runner::finish(Worker& worker) {
  // While the process has not been waited for, its number means its group and no other.
  (void)::kill(-worker.pid, SIGKILL);
  int status = 0;
  while (::waitpid(worker.pid, &status, 0) < 0 && errno == EINTR) continue;
  forget_group(worker.pid);
  if (worker.descriptor >= 0) ::close(worker.descriptor);
  worker.pid = 0;
  worker.descriptor = -1;
  std::vector<pid_t> others;
  for (const auto& other : workers_) {
    if (other->pid > 0) others.push_back(other->pid);
  }
  end_orphans(others.empty() ? "" : worker.area.path(), others);

  Trial trial;
  trial.settings = worker.order.settings;
  worker.area.read(trial, worker.order.keep_choices);
  trial.output = worker.output.tail();
  if (worker.killed != End::kExited) {
    trial.end = worker.killed;
  } else if (trial.is(schedule::kDeadlock)) {
    trial.end = End::kDeadlocked;
  } else if (WIFSIGNALED(status)) {
    trial.end = End::kSignalled;
    trial.signal = WTERMSIG(status);
  } else {
    trial.exit_status = WEXITSTATUS(status);
  }
  return trial;
}

std::vector<Trial> Runner::wait(std::chrono::milliseconds longest) {
  std::vector<Trial> ended;
  const Clock::time_point end = Clock::now() + longest;
  do {
    std::vector<pollfd> watched;
    std::vector<Worker*> running;
    Clock::time_point next = std::min(end, Clock::now() + kRound);
    for (const auto& worker : workers_) {
      if (worker->pid == 0) continue;
      watched.push_back({.fd = worker->descriptor, .events = POLLIN, .revents = 0});
      running.push_back(worker.get());
      next = std::min(next, worker->deadline);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
    if (::poll(watched.data(), watched.size(), static_cast<int>(std::max<std::int64_t>(0, left))) <
        0) {
      return ended;  // a signal
    }
    for (std::size_t i = 0; i < watched.size(); ++i) {
      Worker& worker = *running[i];
      if (watched[i].revents == 0) {
        worker.output.forget_beginning();
        if (Clock::now() < worker.deadline) continue;
        worker.killed = End::kTimedOut;
      }
      ended.push_back(finish(worker));
    }
  } while (ended.empty() && !is_idle() && Clock::now() < end);
  return ended;
}

void Runner::stop_all() {
  for (const auto& worker : workers_) {
    if (worker->pid == 0) continue;
    worker->killed = End::kStopped;
    finish(*worker);
  }
}

Result<Trial> Runner::run(Order order) {
  if (const auto started = start(std::move(order)); !started) {
    return std::unexpected(started.error());
  }
  for (;;) {
    std::vector<Trial> ended = wait(options_.timeout);
    if (!ended.empty()) return std::move(ended.front());
    if (options_.stop == nullptr || !options_.stop()) continue;
    stop_all();
    return Trial{.end = End::kStopped};
  }
}

}  // namespace tomos::campaign
