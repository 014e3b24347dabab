#include "campaign/campaign.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <utility>

#include "campaign/look_again.h"
#include "campaign/native.h"
#include "campaign/statistics.h"
#include "report/layout.h"

namespace tomos::campaign {

namespace {

constexpr std::chrono::milliseconds kTick(200);
// What looking again may cost: for one finding, and for all.
constexpr Budget kBudget = {.attempts = 200, .time = std::chrono::seconds(10)};
constexpr std::chrono::seconds kLookingAgain(60);
// The same for somebody who has no patience left.
constexpr Budget kHasty = {.attempts = 0};
constexpr std::chrono::seconds kLookingHastily(3);

std::uint64_t hits_of(const Finding& finding) { return finding.odds ? finding.odds->hits : 0; }

}  // namespace

Campaign::Campaign(const Program& program, const Options& options, Corpus* corpus, Tick tick)
    : program_(program),
      options_(options),
      corpus_(corpus),
      tick_(std::move(tick)),
      next_seed_(options.seed) {}

Result<Report> Campaign::run() {
  tick();
  const auto expected = run_natively(program_, options_.runner, !options_.timeout_given);
  if (!expected) return std::unexpected(expected.error());
  found_.expect(*expected);
  auto runner = Runner::make(program_, options_.runner);
  if (!runner) return std::unexpected(runner.error());
  status_.phase = Status::Phase::kLearning;
  tick();
  auto plan = make_plan(*runner, options_.settings);
  if (!plan) return std::unexpected(plan.error());
  plan_ = std::move(*plan);
  status_.phase = Status::Phase::kTrials;
  if (const auto done = run_trials(*runner); !done) return std::unexpected(done.error());
  end_ = Clock::now();
  status_.phase = Status::Phase::kLookingAgain;
  tick();
  return make_report();
}

bool Campaign::want_more() const {
  if (stopped()) return false;
  if (options_.trials && begun_ >= *options_.trials) return false;
  if (options_.time && Clock::now() - start_ >= *options_.time) return false;
  return !(options_.stop_at_first && last_find_);
}

Result<void> Campaign::take(const Trial& trial) {
  if (found_.trials().run == 0) {
    if (auto error = why_not_controlled(program_, trial)) return std::unexpected(*error);
  }
  if (found_.add(trial)) last_find_ = Clock::now();
  if (trial.doubtful > 0) ++doubtful_;
  if (trial.is(schedule::kLetGo)) {
    if (let_go_++ == 0) let_go_why_ = trial.let_go;
  }
  return {};
}

Result<void> Campaign::run_trials(Runner& runner) {
  Clock::time_point next_tick = Clock::now();
  for (bool more = true; more || !runner.is_idle();) {
    more = want_more();
    // What is not finished now is not wanted any more; what runs beside it is as good as it.
    if (stopped()) runner.stop_all();
    for (; more && !runner.is_full(); more = want_more()) {
      const auto begun = runner.start(plan_.order(next_seed_));
      if (!begun) return begun;
      ++next_seed_;
      ++begun_;
      // All trials before the first has ended would be in vain if it cannot be controlled.
      if (begun_ == 1) break;
    }
    for (const Trial& trial : runner.wait(kTick)) {
      if (auto taken = take(trial); !taken) return taken;
    }
    if (Clock::now() >= next_tick) {
      tick();
      next_tick = Clock::now() + kTick;
    }
  }
  return {};
}

void Campaign::tick() {
  if (!tick_) return;
  const Clock::time_point now = Clock::now();
  status_.trials = found_.trials();
  status_.found = found_.hit().size();
  status_.elapsed = (status_.phase == Status::Phase::kLookingAgain ? end_ : now) - start_;
  if (last_find_) status_.since_last_find = now - *last_find_;
  tick_(status_);
}

Result<Finding> Campaign::complete(Runner& runner, Found::Item& item, Clock::time_point latest) {
  SecondLook look;
  if (Clock::now() < latest) {
    auto looked = look_again(runner, found_, item, plan_, stopped() ? kHasty : kBudget);
    if (!looked) return std::unexpected(looked.error());
    look = std::move(*looked);
  }
  Finding finding = item.finding;
  Finding::Odds odds = {.hits = item.hits,
                        .trials = found_.trials().run,
                        .seed = item.first_seed,
                        .repeatable = look.again};
  std::string file;
  if (corpus_ != nullptr) {
    const std::string id = finding.id();
    odds.trials += corpus_->trials();
    if (const auto earlier = corpus_->known().find(id); earlier != corpus_->known().end()) {
      odds.hits += earlier->second.hits;
      odds.seed = std::min(odds.seed, earlier->second.seed);
    }
    auto saved = save_schedule(finding, item.first_seed, look);
    if (!saved) return std::unexpected(saved.error());
    file = *saved;
  }
  odds.strategy = to_string(plan_.order(odds.seed).settings.strategy);
  const Interval interval = wilson(odds.hits, odds.trials);
  odds.low = interval.low;
  odds.high = interval.high;
  if (look.schedule) odds.preemptions = describe_preemptions(look.schedule->choices);
  finding.odds = odds;
  if (options_.replay) finding.replay = options_.replay(odds.seed, file);
  return finding;
}

// The simplest known: that of an earlier campaign may be simpler.
Result<std::string> Campaign::save_schedule(const Finding& finding, std::uint64_t seed,
                                            SecondLook& look) const {
  const std::string id = finding.id();
  if (auto earlier = corpus_->schedule(id)) {
    if (!look.schedule || preemptions(earlier->choices) <= preemptions(look.schedule->choices)) {
      look.schedule = Shown{.choices = std::move(earlier->choices), .hash = earlier->hash};
      return corpus_->schedule_path(id);
    }
  }
  if (!look.schedule) return "";
  const Order order = plan_.order(seed);
  Settings settings = options_.settings;
  settings.strategy = order.settings.strategy;
  const auto saved = corpus_->save_schedule(id, {.words = program_.words(),
                                                 .settings = settings,
                                                 .seed = seed,
                                                 .profile = order.profile,
                                                 .id = id,
                                                 .shows = finding.message,
                                                 .hash = look.schedule->hash,
                                                 .choices = look.schedule->choices});
  if (!saved) return std::unexpected(saved.error());
  return corpus_->schedule_path(id);
}

std::vector<std::string> Campaign::notes() const {
  std::vector<std::string> notes;
  const std::string& name = program_.words().front();
  const Expected& expected = found_.expected();
  if (expected.end == End::kTimedOut) {
    notes.push_back(fmt::format(
        "{}: by itself it does not end within the time that a trial has (--timeout), so a trial "
        "that does not end either is no bug; it is stopped then",
        name));
  } else if (expected.end == End::kSignalled) {
    notes.push_back(fmt::format("{}: by itself it dies of signal {} ({})", name, expected.signal,
                                ::sigdescr_np(expected.signal)));
  } else if (expected.end == End::kExited && expected.exit_status != 0) {
    notes.push_back(fmt::format("{}: by itself it ends with exit status {}, which is no bug then",
                                name, expected.exit_status));
  }
  if (let_go_ > 0) {
    notes.push_back(fmt::format(
        "in {} of {} a thread had to be let go ({}): their schedules need not come out the same "
        "again",
        let_go_, counted(found_.trials().run, "trial"), let_go_why_));
  }
  if (doubtful_ > 0) {
    notes.push_back(fmt::format(
        "in {} functions or critical sections were cut that nobody declares atomic (TOMOS_ATOMIC): "
        "--undeclared reports them, too",
        counted(doubtful_, "trial")));
  }
  if (options_.show_warnings && found_.trials().warnings > 0) {
    notes.push_back(fmt::format(
        "warnings: in {} violations seemed possible, at up to {} in one trial",
        counted(found_.trials().warnings, "trial"), counted(found_.most_warnings(), "place")));
  }
  for (const std::string& problem : found_.name_problems()) notes.push_back(problem);
  return notes;
}

Result<Report> Campaign::make_report() {
  Runner::Options again = options_.runner;
  again.jobs = 1;
  if (stopped()) {
    again.stop = nullptr;
    again.timeout = std::min<std::chrono::milliseconds>(again.timeout, kLookingHastily);
  }
  auto runner = Runner::make(program_, again);
  if (!runner) return std::unexpected(runner.error());
  const Clock::time_point latest = end_ + (stopped() ? kLookingHastily : kLookingAgain);
  Report report;
  report.tool = "fuzz";
  report.inputs = {program_.words().front()};
  report.stats.events = found_.steps();
  report.stats.threads = found_.most_threads();
  report.stats.seconds = std::chrono::duration<double>(end_ - start_).count();
  report.trials = found_.trials();
  for (Found::Item* item : found_.hit()) {
    auto finding = complete(*runner, *item, latest);
    if (!finding) return std::unexpected(finding.error());
    tick();
    // What differs without call chains can be the same with them.
    const auto same = std::ranges::find(report.findings, finding->id(), &Finding::id);
    if (same == report.findings.end()) {
      report.findings.push_back(std::move(*finding));
    } else if (hits_of(*finding) > hits_of(*same)) {
      *same = std::move(*finding);
    }
  }
  report.verdicts = {{.analysis = "fuzz",
                      .verdict = report.findings.empty() ? Verdict::kOk : Verdict::kViolation}};
  report.notes = notes();
  if (corpus_ == nullptr) return report;
  if (const auto saved = save_in_corpus(report); !saved) return std::unexpected(saved.error());
  return report;
}

Result<void> Campaign::save_in_corpus(Report& report) {
  for (const auto& [id, known] : corpus_->known()) {
    if (std::ranges::find(report.findings, id, &Finding::id) != report.findings.end()) continue;
    report.notes.push_back(fmt::format("found by an earlier campaign, not by this one: {} ({})",
                                       known.message, corpus_->schedule_path(id)));
  }
  for (const Finding& finding : report.findings) {
    if (auto saved = corpus_->save_finding(finding); !saved) return saved;
    const Finding::Odds odds = finding.odds.value_or(Finding::Odds());
    corpus_->add(finding.id(), {.hits = odds.hits, .seed = odds.seed, .message = finding.message});
  }
  corpus_->add_trials(found_.trials().run, next_seed_);
  return corpus_->save();
}

}  // namespace tomos::campaign
