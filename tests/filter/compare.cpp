#include "compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>

#include "report/finding.h"
#include "simulate.h"

namespace tomos::filter {

namespace {

constexpr std::size_t kMaxFindings = 1'000'000;

std::vector<Subject> make_subjects() {
  std::vector<Subject> result;
  for (const Analysis& analysis : analyses()) {
    const auto add = [&](std::string_view suffix, AnalysisOptions options,
                         Promise promise = Promise::kSame) {
      options.max_findings = kMaxFindings;
      result.push_back(
          {std::string(analysis.name) + std::string(suffix), promise, &analysis, options});
    };
    if (analysis.name == "races") {
      add(":eraser", {.races = {RaceDetector::kEraser}});
      add(":object", {.races = {RaceDetector::kObject}}, Promise::kCounted);
      add(":atomizer", {.races = {RaceDetector::kAtomizer}});
      add(":multilockset", {.races = {RaceDetector::kMultilockset}});
    } else if (!analysis.predicts) {
      add(":data", {.edges = Edges::kData});
      add(":sync", {.edges = Edges::kSync});
    } else if (analysis.name == "reduction") {
      add("", {}, Promise::kTruth);
    } else if (analysis.counts_repeats) {
      add("", {}, Promise::kCounted);
    } else {
      add("", {});
    }
  }
  return result;
}

// Reduction takes for granted that threads give back their locks.
bool ends_locked(const Trace& trace) {
  std::ptrdiff_t held = 0;
  for (const Event& e : trace) {
    held += e.op == Op::kAcquire || e.op == Op::kReadAcquire ? 1 : 0;
    held -= e.op == Op::kRelease || e.op == Op::kReadRelease ? 1 : 0;
  }
  return held != 0;
}

bool is_cut(const Trace& trace) {
  const auto exact = std::ranges::find(subjects(), "blocks-all", &Subject::name);
  return judge(*exact, trace).verdict != "ok";
}

// A transaction under a lock that is never given back is not the same as one under a lock that is,
// which is known only in the end: so where transactions are taken back, either may be missing.
bool allows(const Subject& subject, const Judged& more, const Trace& trace, bool distinct) {
  if (distinct && ends_locked(trace)) return true;
  switch (subject.promise) {
    case Promise::kSame:
      return false;
    case Promise::kTruth:
      return more.verdict == "violation" && (ends_locked(trace) || !is_cut(trace));
    case Promise::kCounted:
      return true;
  }
  return false;
}

// What is wrong with `less`, which is made of `trace`.
Wrong difference(const Subject& subject, const Trace& trace, const Judged& more, const Judged& less,
                 bool distinct) {
  if (more.verdict != less.verdict) {
    return allows(subject, more, trace, distinct) ? Wrong::kAllowed : Wrong::kVerdict;
  }
  if (more.transactions != less.transactions) return Wrong::kTransaction;
  return more.about == less.about ? Wrong::kNothing : Wrong::kVariables;
}

}  // namespace

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all = make_subjects();
  return all;
}

std::string_view word(Stage stage) {
  constexpr std::array<std::string_view, kStages> kWords{"whole", "recorded", "read"};
  return kWords[static_cast<std::size_t>(stage)];
}

std::string_view word(Wrong wrong) {
  constexpr std::array<std::string_view, kWrongs> kWords{"nothing", "variables", "transactions",
                                                         "allowed", "verdict"};
  return kWords[static_cast<std::size_t>(wrong)];
}

Case::Case(const Raw& raw, std::uint64_t ticks, bool distinct) : distinct_(distinct) {
  traces_[0] = deliver(raw);
  traces_[1] = deliver(recorded(raw, ticks, distinct));
  traces_[2] = without_influence(traces_[1], distinct);
}

std::string Judged::describe() const {
  std::string text = verdict;
  for (const auto& [transaction, variable] : about) {
    text += fmt::format(" {}:{}", transaction, variable);
  }
  return text;
}

Judged judge(const Subject& subject, const Trace& trace) {
  const std::unique_ptr<Monitor> monitor = subject.analysis->make(subject.options);
  monitor->on_events(trace);
  monitor->finish();
  Judged judged;
  const std::vector<Finding> findings = monitor->findings(names());
  judged.verdict = "violation";
  if (findings.empty()) judged.verdict = monitor->unknown().empty() ? "ok" : "unknown";
  for (const Finding& finding : findings) {
    const std::string label =
        finding.transactions.empty() ? "" : finding.transactions.front().label;
    judged.transactions.insert(label);
    for (const Finding::Event& event : finding.events) judged.about.emplace(label, event.variable);
  }
  return judged;
}

Comparison compare(const Subject& subject, const Case& the_case) {
  const Judged whole = judge(subject, the_case.trace(Stage::kWhole));
  const Judged recorded = judge(subject, the_case.trace(Stage::kRecorded));
  const Judged read = judge(subject, the_case.trace(Stage::kRead));
  return {.violation = whole.verdict == "violation",
          .wrong = {Wrong::kNothing,
                    difference(subject, the_case.trace(Stage::kWhole), whole, recorded,
                               the_case.distinct()),
                    difference(subject, the_case.trace(Stage::kRecorded), recorded, read, false)}};
}

}  // namespace tomos::filter
