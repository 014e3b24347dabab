#include "compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "check_prediction.h"
#include "oracle/check_finding.h"
#include "oracle/random.h"

namespace tomos::predict {

namespace {

using oracle::Random;

const char* word(Verdict verdict) {
  constexpr std::array<const char*, 3> kWords{"ok", "violation", "unknown"};
  return kWords[static_cast<std::size_t>(verdict)];
}

bool has(const Trace& trace, std::initializer_list<Op> ops) {
  return std::ranges::any_of(
      trace, [&](const Event& e) { return std::ranges::find(ops, e.op) != ops.end(); });
}

void feed(Monitor& monitor, std::span<const Event> events, Random& random) {
  while (!events.empty()) {
    const std::size_t run = std::min<std::size_t>(random.below(12), events.size());
    monitor.on_events(events.first(run));
    events = events.subspan(run);
  }
}

struct Outcome {
  Verdict verdict = Verdict::kOk;
  std::vector<Finding> findings;
  std::string unknown;

  std::string text() const {
    std::string text = fmt::format("{}{}{}\n", word(verdict), unknown.empty() ? "" : ": ", unknown);
    for (const Finding& finding : findings) text += oracle::describe(finding);
    return text;
  }
};

Outcome end(Monitor& monitor) {
  monitor.finish();
  Outcome outcome{.findings = monitor.findings(oracle::names()), .unknown = monitor.unknown()};
  if (!outcome.findings.empty() || monitor.left_out() > 0) {
    outcome.verdict = Verdict::kViolation;
  } else if (!outcome.unknown.empty()) {
    outcome.verdict = Verdict::kUnknown;
  }
  return outcome;
}

Outcome outcome_of(const Subject& subject, Switch way, std::span<const Event> trace,
                   Random& random) {
  const std::unique_ptr<Monitor> monitor = subject.analysis->make(options(way));
  feed(*monitor, trace, random);
  return end(*monitor);
}

Outcome judge_by_clone(const Subject& subject, std::span<const Event> trace, Random& random) {
  const std::unique_ptr<Monitor> monitor = subject.analysis->make({});
  const std::size_t at = random.below(static_cast<std::uint32_t>(trace.size()) + 1);
  feed(*monitor, trace.first(at), random);
  const std::unique_ptr<Monitor> clone = monitor->clone();
  feed(*monitor, trace.subspan(at), random);
  monitor->finish();
  feed(*clone, trace.subspan(at), random);
  return end(*clone);
}

// Whether the switch turns off something that there is.
bool matters(Switch way, const Subject& subject, const Trace& trace) {
  const bool reduces = subject.name == "reduction" || subject.name == "reduction-online";
  const bool races = subject.name == "races";
  switch (way) {
    case Switch::kDefault:
      return true;
    case Switch::kNoEscape:
      return has(trace, {Op::kNew});
    case Switch::kNoHappensBefore:
      return has(trace, {Op::kFork, Op::kJoin, Op::kBarrier, Op::kWait});
    case Switch::kNoMultilockset:
      return reduces || races;
    case Switch::kNoAcqARel:
      return reduces;
    case Switch::kAllDetectors:
      return races;
    case Switch::kOneFinding:
      return false;
  }
  return true;
}

// The verdict against the truth.
Wrong against_truth(Promise promise, Verdict verdict, bool violates) {
  const bool exact = promise == Promise::kExact;
  switch (verdict) {
    case Verdict::kOk:
      return violates && promise != Promise::kNone ? Wrong::kMissed : Wrong::kNothing;
    case Verdict::kViolation:
      return !violates && exact ? Wrong::kFalseAlarm : Wrong::kNothing;
    case Verdict::kUnknown:
      return exact ? Wrong::kUnknown : Wrong::kNothing;
  }
  return Wrong::kNothing;
}

}  // namespace

std::string_view word(Wrong wrong) {
  constexpr std::array<std::string_view, kWrongCount> kWords{
      "nothing", "missed", "false alarm", "unknown", "false finding", "order", "switch", "clone"};
  return kWords[static_cast<std::size_t>(wrong)];
}

const Truth& Case::truth(Switch way) {
  if (way == Switch::kNoEscape) {
    if (!without_escape_) without_escape_.emplace(trace_, ModelOptions{.escape = false});
    return *without_escape_;
  }
  if (way == Switch::kNoHappensBefore) {
    if (!without_order_) without_order_.emplace(trace_, ModelOptions{.happens_before = false});
    return *without_order_;
  }
  if (!usual_) usual_.emplace(trace_);
  return *usual_;
}

Comparison compare(const Subject& subject, Switch way, Case& subject_case, std::uint64_t seed) {
  const Trace& trace = subject_case.trace();
  Random random(seed, static_cast<std::uint64_t>(way));
  const Outcome outcome = outcome_of(subject, way, trace, random);
  Comparison result{.verdict = outcome.verdict};
  const auto wrong = [&](Wrong kind, std::string text) {
    result.wrong = kind;
    result.text = std::move(text);
    return result;
  };

  if (!matters(way, subject, trace)) {
    const Outcome usual = outcome_of(subject, Switch::kDefault, trace, random);
    if (usual.verdict == outcome.verdict) return result;
    return wrong(Wrong::kSwitch, fmt::format("{}: {}with {}: {}", subject.name, usual.text(),
                                             predict::word(way), outcome.text()));
  }

  const Truth& truth = subject_case.truth(way);
  if (!truth.decided || (subject.needs_no_deadlock && truth.deadlock)) return result;
  result.compared = true;
  result.violates = subject.violates(truth);
  // The older race detectors are what the paper compares with; they promise nothing.
  const Promise promise = way == Switch::kNoMultilockset ? Promise::kNone : subject.promise;
  const Wrong verdict = against_truth(promise, outcome.verdict, result.violates);
  if (verdict != Wrong::kNothing) {
    return wrong(verdict,
                 fmt::format("brute force: {}\n{}: {}", result.violates ? "violation" : "ok",
                             subject.name, outcome.text()));
  }
  for (const Finding& finding : outcome.findings) {
    const std::string lie = check_prediction(finding, subject, trace, truth);
    if (!lie.empty()) {
      return wrong(Wrong::kFinding, fmt::format("{}: a finding of which {}:\n{}", subject.name, lie,
                                                oracle::describe(finding)));
    }
  }
  if (way != Switch::kDefault) return result;

  const Outcome clone = judge_by_clone(subject, trace, random);
  if (clone.text() != outcome.text()) {
    return wrong(Wrong::kClone,
                 fmt::format("{}: {}its clone: {}", subject.name, outcome.text(), clone.text()));
  }
  if (subject.order_matters) return result;
  if (const std::optional<Trace> other = observed_otherwise(trace, seed)) {
    const Outcome again = outcome_of(subject, way, *other, random);
    if (again.verdict != outcome.verdict) {
      return wrong(Wrong::kOrder,
                   fmt::format("{}: {}observed otherwise:\n{}{}: {}", subject.name, outcome.text(),
                               oracle::to_std(*other), subject.name, again.text()));
    }
  }
  return result;
}

}  // namespace tomos::predict
