#include "subjects.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>

#include "monitor/blocks.h"

namespace tomos::predict {

namespace {

// The ways of long runs, on short ones: the whole run is not kept, nor all transactions; long
// transactions are thinned out, and blocks of many variables made late.
std::unique_ptr<Monitor> make_long(const AnalysisOptions& options) {
  return std::make_unique<Blocks>(options, Blocks::Scope::kAll, BlockStore::Limits{.small = 0});
}
std::unique_ptr<Monitor> make_crowded(const AnalysisOptions& options) {
  return std::make_unique<Blocks>(
      options, Blocks::Scope::kTwoTransactions,
      BlockStore::Limits{.room = 0, .buffer = 4, .small = 0, .wide = 2});
}

constexpr Analysis kLong{.name = "blocks-all", .says = "", .make = make_long};
constexpr Analysis kCrowded{.name = "blocks", .says = "", .make = make_crowded};

// Whether a thread holds a lock from one transaction to the next. Then two transactions may not be
// able to run in either order, and only short runs are judged exactly.
bool locks_span_transactions(const Model& model) {
  for (const auto& steps : model.threads) {
    std::size_t held = 0;
    std::size_t last = kNone;
    for (const Step& step : steps) {
      const bool takes = step.op == Op::kAcquire || step.op == Op::kReadAcquire;
      const bool gives = step.op == Op::kRelease || step.op == Op::kReadRelease;
      if (held > 0 && (step.transaction != last || step.transaction == kNone)) return true;
      last = step.transaction;
      held += takes ? 1 : 0;
      held -= gives ? 1 : 0;
    }
  }
  return false;
}

}  // namespace

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all = [] {
    const auto cut = [](const Truth& truth) { return !truth.atomicity.atomic; };
    const auto cut_variable = [](const Truth& truth) { return !truth.cut_variables.empty(); };
    const auto cut_pair = [](const Truth& truth) { return !truth.cut_pairs.empty(); };
    const auto deadlock = [](const Truth& truth) { return truth.lock_deadlock.has_value(); };
    const auto race = [](const Truth& truth) { return truth.race.has_value(); };
    std::vector<Subject> result = {
        {"blocks-1v", Promise::kExact, Kind::kAtomicity, true, false, cut_variable, nullptr},
        {"blocks", Promise::kExact, Kind::kAtomicity, true, false, cut_pair, nullptr},
        {"blocks-all", Promise::kExact, Kind::kAtomicity, true, false, cut, nullptr},
        {"reduction", Promise::kSound, Kind::kAtomicity, true, false, cut, nullptr},
        {"reduction-online", Promise::kNone, Kind::kAtomicity, true, true, cut, nullptr},
        {"lock-order", Promise::kSound, Kind::kDeadlock, false, false, deadlock, nullptr},
        {"races", Promise::kSound, Kind::kRace, false, false, race, nullptr},
    };
    for (Subject& subject : result) {
      const std::span<const Analysis> there = analyses();
      const auto found = std::ranges::find(there, subject.name, &Analysis::name);
      if (found != there.end()) subject.analysis = &*found;
    }
    const auto cut_plainly = [](const Truth& truth) {
      return !truth.atomicity.atomic && !locks_span_transactions(truth.model());
    };
    const auto cut_pair_plainly = [](const Truth& truth) {
      return !truth.cut_pairs.empty() && !locks_span_transactions(truth.model());
    };
    result.push_back(
        {"blocks-all-long", Promise::kSound, Kind::kAtomicity, true, true, cut_plainly, &kLong});
    result.push_back({"blocks-crowded", Promise::kSound, Kind::kAtomicity, true, true,
                      cut_pair_plainly, &kCrowded});
    return result;
  }();
  return all;
}

std::string_view word(Switch way) {
  constexpr std::array<std::string_view, kSwitchCount> kWords{
      "default",      "no-escape",     "no-happens-before", "no-multilockset",
      "no-acq-a-rel", "all-detectors", "one-finding"};
  return kWords[static_cast<std::size_t>(way)];
}

AnalysisOptions options(Switch way) {
  AnalysisOptions options;
  switch (way) {
    case Switch::kDefault:
      break;
    case Switch::kNoEscape:
      options.escape = false;
      break;
    case Switch::kNoHappensBefore:
      options.happens_before = false;
      break;
    case Switch::kNoMultilockset:
      options.multilockset = false;
      break;
    case Switch::kNoAcqARel:
      options.acq_a_rel = false;
      break;
    case Switch::kAllDetectors:
      options.races = {RaceDetector::kEraser, RaceDetector::kObject, RaceDetector::kAtomizer,
                       RaceDetector::kMultilockset};
      break;
    case Switch::kOneFinding:
      options.max_findings = 1;
      break;
  }
  return options;
}

}  // namespace tomos::predict
