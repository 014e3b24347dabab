// The pipeline is trace -> Validated -> Feed -> ReadAhead -> monitors. Everything up to Feed runs
// on the reading thread, which has time to spare: monitors take longer than reading. So the names
// are at rest as soon as the reading has ended, for whatever reason.
#include "cli/analyse.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/interrupt.h"
#include "trace/read_ahead.h"

namespace tomos {

namespace {

// Passes events on until the user interrupts, and counts transactions on the way.
class Feed : public Source {
 public:
  explicit Feed(std::unique_ptr<Validated> inner) : inner_(std::move(inner)) {}

  Result<void> next(Batch& batch) override {
    if (interrupted()) {
      cut_short_ = true;
      batch.events.clear();
      return {};
    }
    auto result = inner_->next(batch);
    if (result) count(batch.events);
    return result;
  }
  const Names& names() const override { return inner_->names(); }
  Progress progress() const override { return inner_->progress(); }

  // All only after the end or an error.
  Skipped skipped() const { return inner_->skipped(); }
  std::uint64_t transactions() const { return transactions_; }
  bool cut_short() const { return cut_short_; }

 private:
  void count(const std::vector<Event>& events) {
    for (const Event& event : events) {
      if (event.op != Op::kBegin && event.op != Op::kEnd) continue;
      if (event.thread >= depths_.size()) depths_.resize(event.thread + std::size_t{1});
      std::uint32_t& depth = depths_[event.thread];
      if (event.op == Op::kEnd) {
        if (depth > 0) --depth;
      } else if (depth++ == 0) {
        ++transactions_;
      }
    }
  }

  std::unique_ptr<Validated> inner_;
  std::vector<std::uint32_t> depths_;  // by thread
  std::uint64_t transactions_ = 0;
  bool cut_short_ = false;
};

// The line on which a monitor that takes long is seen to be alive. Monitors ask a plain function
// whether to stop, so there is no other way to reach it.
ProgressLine* alive = nullptr;

bool stop() {
  if (alive != nullptr) alive->tick();
  return interrupted();
}

// What monitors say, each sentence once, with the names of all that say it.
class Notes {
 public:
  void add(std::string_view analysis, const std::string& sentence) {
    const auto same = std::ranges::find(notes_, sentence, &Note::sentence);
    if (same == notes_.end()) {
      notes_.push_back({.analyses = std::string(analysis), .sentence = sentence});
    } else {
      same->analyses += fmt::format(", {}", analysis);
    }
  }
  std::vector<std::string> about(const std::string& input) const {
    std::vector<std::string> result;
    result.reserve(notes_.size());
    for (const Note& note : notes_) {
      result.push_back(fmt::format("{}: {}: {}", input, note.analyses, note.sentence));
    }
    return result;
  }

 private:
  struct Note {
    std::string analyses;
    std::string sentence;
  };
  std::vector<Note> notes_;
};

// Looks for deadlocks where an analysis assumes that there are none and nobody else looks.
std::unique_ptr<Monitor> deadlock_watch(const std::vector<const Analysis*>& chosen,
                                        const AnalysisOptions& options) {
  constexpr std::string_view kLockOrder = "lock-order";
  if (std::ranges::none_of(chosen, &Analysis::assumes_no_deadlock) ||
      std::ranges::count(chosen, kLockOrder, &Analysis::name) > 0) {
    return nullptr;
  }
  const auto lock_order = std::ranges::find(analyses(), kLockOrder, &Analysis::name);
  return lock_order->make(options);
}

Verdict judge(const Monitor& monitor, bool violated) {
  if (violated) return Verdict::kViolation;
  return monitor.unknown().empty() ? Verdict::kOk : Verdict::kUnknown;
}

}  // namespace

Analysed analyse(std::unique_ptr<Source> trace, const std::string& name,
                 const std::vector<const Analysis*>& chosen, const AnalysisOptions& options,
                 Validation validation, ProgressLine& progress,
                 const std::function<void(Finding&)>& complete) {
  auto owned =
      std::make_unique<Feed>(std::make_unique<Validated>(std::move(trace), name, validation));
  const Feed& feed = *owned;
  ReadAhead source(std::move(owned));
  std::vector<std::unique_ptr<Monitor>> monitors;
  monitors.reserve(chosen.size());
  AnalysisOptions stoppable = options;
  stoppable.stop = stop;
  for (const Analysis* analysis : chosen) monitors.push_back(analysis->make(stoppable));
  const std::unique_ptr<Monitor> deadlocks = deadlock_watch(chosen, stoppable);

  Analysed result;
  for (Batch batch;;) {
    const auto got = source.next(batch);
    if (!got) result.error = got.error();
    if (!got || batch.events.empty()) break;
    for (const auto& monitor : monitors) monitor->on_events(batch.events);
    if (deadlocks != nullptr) deadlocks->on_events(batch.events);
    result.stats.events += batch.events.size();
    progress.update(result.stats.events, source.progress());
  }

  const Names& names = source.names();
  Notes notes;
  for (const auto& monitor : monitors) {
    progress.work_on(monitor->name());
    alive = &progress;
    monitor->finish();
    std::vector<Finding> found = monitor->findings(names);
    alive = nullptr;
    const bool violated = !found.empty() || monitor->left_out() > 0;
    result.verdicts.push_back({.analysis = std::string(monitor->name()),
                               .verdict = judge(*monitor, violated),
                               .left_out = monitor->left_out()});
    // Also beside findings: there may be more of them.
    if (const std::string why = monitor->unknown(); !why.empty()) notes.add(monitor->name(), why);
    for (const std::string& note : monitor->notes()) notes.add(monitor->name(), note);
    for (Finding& finding : found) {
      finding.input = name;
      if (complete) complete(finding);
      result.findings.push_back(std::move(finding));
    }
  }
  if (deadlocks != nullptr) {
    deadlocks->finish();
    if (!deadlocks->findings(names).empty()) {
      for (const Analysis* analysis : chosen) {
        if (!analysis->assumes_no_deadlock) continue;
        notes.add(
            analysis->name,
            "the verdict is for threads that cannot block each other for good, but here they can; "
            "--analysis lock-order shows how");
      }
    }
  }
  result.notes = notes.about(name);
  result.stats.threads = names.count(NameKind::kThread);
  result.stats.variables = names.count(NameKind::kVariable);
  result.stats.locks = names.count(NameKind::kLock);
  result.stats.transactions = feed.transactions();
  result.skipped = feed.skipped();
  result.cut_short = feed.cut_short();
  return result;
}

}  // namespace tomos
