// An analysis against brute force on one trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "programs.h"
#include "subjects.h"
#include "truth.h"

namespace tomos::predict {

enum class Verdict : std::uint8_t { kOk, kViolation, kUnknown };

// What can be wrong. Shrinking keeps to one of them.
enum class Wrong : std::uint8_t {
  kNothing,
  kMissed,      // ok where there is a violation
  kFalseAlarm,  // a violation where there is none
  kUnknown,     // no verdict, though one is promised
  kFinding,     // the verdict is right, but a finding does not tell the truth
  kOrder,       // another verdict on the same T observed otherwise
  kSwitch,      // another verdict though the switch has nothing to switch
  kClone,       // a clone goes another way
};

inline constexpr std::size_t kWrongCount = 8;

std::string_view word(Wrong wrong);

struct Comparison {
  Wrong wrong = Wrong::kNothing;
  std::string text;       // what brute force says and what the analysis says
  bool compared = false;  // false: the trace is not one that the analysis has to judge
  bool violates = false;  // by brute force
  Verdict verdict = Verdict::kOk;
};

// A trace, and what brute force says of it, with the parts of the model that a switch turns off.
class Case {
 public:
  explicit Case(Trace trace) : trace_(std::move(trace)) {}

  const Trace& trace() const { return trace_; }
  const Truth& truth(Switch way);

 private:
  Trace trace_;
  std::optional<Truth> usual_;
  std::optional<Truth> without_escape_;
  std::optional<Truth> without_order_;
};

// `seed` decides how the trace is cut into runs, where the monitor is cloned and in which order T
// is observed again.
Comparison compare(const Subject& subject, Switch way, Case& subject_case, std::uint64_t seed);

}  // namespace tomos::predict
