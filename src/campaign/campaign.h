// A campaign: many trials of one program, what they found, and each finding looked at once more.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "campaign/corpus.h"
#include "campaign/found.h"
#include "campaign/look_again.h"
#include "campaign/plan.h"
#include "campaign/program.h"
#include "campaign/runner.h"
#include "campaign/settings.h"
#include "event/error.h"
#include "report/report.h"

namespace tomos::campaign {

struct Options {
  Settings settings;
  std::uint64_t seed = 1;  // of the first trial; the next has the next
  std::optional<std::uint64_t> trials;
  std::optional<std::chrono::milliseconds> time;
  bool stop_at_first = false;
  bool show_warnings = false;
  Runner::Options runner;
  bool timeout_given = false;  // otherwise a slow program has more time
  // The command that shows a finding again; `schedule`: the file that has it, if there is one.
  std::function<std::string(std::uint64_t seed, const std::string& schedule)> replay;
};

struct Status {
  enum class Phase : std::uint8_t { kNative, kLearning, kTrials, kLookingAgain };
  Phase phase = Phase::kNative;
  Trials trials;
  std::uint64_t found = 0;
  std::chrono::duration<double> elapsed{0};
  std::optional<std::chrono::duration<double>> since_last_find;
};

class Campaign {
 public:
  using Tick = std::function<void(const Status&)>;

  // `corpus` may be null; `tick` is called several times a second.
  Campaign(const Program& program, const Options& options, Corpus* corpus, Tick tick);

  // Everything, until the trials or the time are used up, or options.runner.stop says so.
  Result<Report> run();

 private:
  using Clock = std::chrono::steady_clock;

  Result<void> run_trials(Runner& runner);
  Result<void> take(const Trial& trial);
  bool want_more() const;
  // The finding with all that is known of it.
  Result<Finding> complete(Runner& runner, Found::Item& item, Clock::time_point latest);
  // The path of the schedule, empty if there is none. The simplest that is known is in `look` then.
  Result<std::string> save_schedule(const Finding& finding, std::uint64_t seed,
                                    SecondLook& look) const;
  Result<Report> make_report();
  Result<void> save_in_corpus(Report& report);
  std::vector<std::string> notes() const;
  bool stopped() const { return options_.runner.stop != nullptr && options_.runner.stop(); }
  void tick();

  const Program& program_;
  Options options_;
  Plan plan_;
  Corpus* corpus_;
  Tick tick_;
  Found found_;
  std::uint64_t next_seed_;
  std::uint64_t begun_ = 0;
  std::uint64_t doubtful_ = 0;  // trials with violations that are not reported
  std::uint64_t let_go_ = 0;    // trials in which somebody was
  std::string let_go_why_;      // in the first of them
  Status status_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point end_ = start_;  // of the trials
  std::optional<Clock::time_point> last_find_;
};

}  // namespace tomos::campaign
