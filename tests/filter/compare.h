// Every analysis on a run and on what is left of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "monitor/analyses.h"
#include "raw.h"

namespace tomos::filter {

enum class Promise : std::uint8_t {
  kSame,     // the verdict does not change
  kTruth,    // it gives false alarms; one may go, but no violation that blocks-all finds too
  kCounted,  // it judges by what is known so far, which the order of harmless reads changes
};

struct Subject {
  std::string name;
  Promise promise;
  const Analysis* analysis;
  AnalysisOptions options;
};

const std::vector<Subject>& subjects();

// The run as it was, without repeats, and also without what the reader drops.
enum class Stage : std::uint8_t { kWhole, kRecorded, kRead };
inline constexpr std::size_t kStages = 3;

std::string_view word(Stage stage);

enum class Wrong : std::uint8_t {
  kNothing,
  kVariables,    // findings are about the same transactions, but not all about the same variables
  kTransaction,  // the verdict is the same, but a transaction is no longer, or only now, reported
  kAllowed,      // the verdict is another, as the subject's promise allows
  kVerdict,
};
inline constexpr std::size_t kWrongs = 5;

std::string_view word(Wrong wrong);

// A run and what is left of it.
class Case {
 public:
  Case(const Raw& raw, std::uint64_t ticks, bool distinct);
  const Trace& trace(Stage stage) const { return traces_[static_cast<std::size_t>(stage)]; }
  bool distinct() const { return distinct_; }

 private:
  bool distinct_;
  std::array<Trace, kStages> traces_;
};

struct Judged {
  std::string verdict;                                  // as the command line says it
  std::set<std::string> transactions;                   // labels of those that are reported
  std::set<std::pair<std::string, std::string>> about;  // with the variables, locks and threads

  std::string describe() const;
};

Judged judge(const Subject& subject, const Trace& trace);

struct Comparison {
  bool violation = false;              // of the whole run
  std::array<Wrong, kStages> wrong{};  // with each stage, compared with the one before
};

Comparison compare(const Subject& subject, const Case& the_case);

}  // namespace tomos::filter
