#include "cli/fuzz_status.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

#include "cli/terminal.h"
#include "report/layout.h"

namespace tomos {

namespace {

using campaign::Status;

constexpr std::chrono::seconds kBetweenLines(5);

// "0:07", "12:30", "3:00:00".
std::string clock_time(std::chrono::duration<double> time) {
  const auto seconds = static_cast<std::int64_t>(time.count());
  const std::int64_t minutes = seconds / 60;
  if (minutes < 60) return fmt::format("{}:{:02}", minutes, seconds % 60);
  return fmt::format("{}:{:02}:{:02}", minutes / 60, minutes % 60, seconds % 60);
}

double rate(const Status& status) {
  return static_cast<double>(status.trials.run) / std::max(status.elapsed.count(), 1e-3);
}

std::string_view phase_name(Status::Phase phase) {
  switch (phase) {
    case Status::Phase::kNative:
      return "running it once by itself";
    case Status::Phase::kLearning:
      return "learning where switching matters";
    case Status::Phase::kTrials:
      return "running trials";
    case Status::Phase::kLookingAgain:
      return "making the schedules simpler";
  }
  return "";
}

std::string found(const Status& status) {
  std::string text = fmt::format("{} found", status.found);
  if (status.since_last_find) {
    text += fmt::format(", the last {} ago", clock_time(*status.since_last_find));
  }
  return text;
}

}  // namespace

FuzzStatus::FuzzStatus(Goal goal, bool quiet)
    : goal_(std::move(goal)),
      quiet_(quiet),
      terminal_(::isatty(STDERR_FILENO) == 1),
      next_(Clock::now() + kBetweenLines) {}

FuzzStatus::~FuzzStatus() { erase(); }

void FuzzStatus::erase() {
  if (lines_ > 0) fmt::print(stderr, "\r\x1b[{}A\x1b[J", lines_);
  lines_ = 0;
}

void FuzzStatus::show(const Status& status) {
  if (quiet_) return;
  if (terminal_) {
    show_on_terminal(status);
  } else if (Clock::now() >= next_) {
    next_ = Clock::now() + kBetweenLines;
    show_as_line(status);
  }
}

void FuzzStatus::show_on_terminal(const Status& status) {
  std::string trials = counted(status.trials.run, "trial");
  if (goal_.trials) trials += fmt::format(" of {}", *goal_.trials);
  std::string time = clock_time(status.elapsed);
  if (goal_.time) time += fmt::format(" of {}", clock_time(*goal_.time));
  const std::array lines = {
      fmt::format("tomos fuzz {}: {}", printable(goal_.program), phase_name(status.phase)),
      fmt::format("  {}, {:.0f} trials/s, time {}", trials, rate(status), time),
      fmt::format("  {}; {} with errors, {} with bugs, {} hung", found(status),
                  counted(status.trials.errors, "trial"), status.trials.bugs, status.trials.hung)};
  const std::size_t room = terminal_columns(STDERR_FILENO) - 1;
  std::string text;
  for (const std::string& line : lines) text += fit(line, room, Cut::kTail) + "\x1b[K\n";
  if (lines_ > 0) text = fmt::format("\r\x1b[{}A{}", lines_, text);
  lines_ = static_cast<int>(lines.size());
  fmt::print(stderr, "{}", text);  // at once, so that it does not flicker
}

void FuzzStatus::show_as_line(const Status& status) {
  fmt::print(stderr, "tomos: fuzz: {}, {:.0f} trials/s, {}\n", counted(status.trials.run, "trial"),
             rate(status), found(status));
}

}  // namespace tomos
