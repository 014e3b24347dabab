#include "campaign/native.h"

#include <algorithm>
#include <chrono>
#include <expected>

namespace tomos::campaign {

namespace {

// So much longer than by itself may a program take, one thread at a time, before it is said to
// hang.
constexpr int kSlowdown = 20;

}  // namespace

Result<Expected> run_natively(const Program& program, Runner::Options& options, bool adapt) {
  using Clock = std::chrono::steady_clock;
  auto runner = Runner::make(program, options);
  if (!runner) return std::unexpected(runner.error());
  const Clock::time_point start = Clock::now();
  const auto trial = runner->run({.scheduled = false});
  if (!trial) return std::unexpected(trial.error());
  if (adapt && trial->end != End::kTimedOut) {
    const auto slow = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
    options.timeout = std::max(options.timeout, kSlowdown * slow);
  }
  return Expected{.end = trial->end, .exit_status = trial->exit_status, .signal = trial->signal};
}

}  // namespace tomos::campaign
