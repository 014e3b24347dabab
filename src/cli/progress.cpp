#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/terminal.h"
#include "report/layout.h"

namespace tomos {

namespace {

constexpr auto kInterval = std::chrono::milliseconds(200);
constexpr std::string_view kErase = "\r\x1b[K";

}  // namespace

ProgressLine::ProgressLine(const std::string& name, bool quiet)
    : name_(printable(name)), enabled_(!quiet && ::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (shown_) fmt::print(stderr, "{}", kErase);
}

bool ProgressLine::is_time() {
  if (!enabled_) return false;
  const Clock::time_point now = Clock::now();
  if (now < next_) return false;
  next_ = now + kInterval;
  return true;
}

void ProgressLine::show(const std::string& line) {
  shown_ = true;
  const std::size_t room = terminal_columns(STDERR_FILENO) - 1;
  const std::size_t name = room - std::min(room, width(line) + 2);
  fmt::print(stderr, "{}{}", kErase,
             fit(fit(name_, name, Cut::kHead) + ": " + line, room, Cut::kTail));
}

void ProgressLine::update(std::uint64_t events, const Source::Progress& progress) {
  if (!is_time()) return;
  const double millions = static_cast<double>(events) / 1e6;
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  std::string line =
      fmt::format("{:.1f} million events, {:.1f} million/s", millions, millions / seconds);
  if (progress.size > 0) {
    const double part = static_cast<double>(progress.done) / static_cast<double>(progress.size);
    line += fmt::format(", {:.0f}%", 100 * std::min(part, 1.0));
  }
  show(line);
}

void ProgressLine::work_on(std::string_view what) {
  work_ = what;
  work_start_ = Clock::now();
  tick();
}

void ProgressLine::tick() {
  if (!is_time()) return;
  const double seconds = std::chrono::duration<double>(Clock::now() - work_start_).count();
  show(fmt::format("all read, {} at work for {:.0f} s", work_, seconds));
}

}  // namespace tomos
