// What is put to the test: the predictive analyses, and what each has to do with the truth.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "monitor/analyses.h"
#include "report/finding.h"
#include "truth.h"

namespace tomos::predict {

enum class Promise : std::uint8_t {
  kExact,  // a violation if and only if there is one
  kSound,  // never ok when there is one
  kNone,   // errors of both kinds are only counted
};

struct Subject {
  std::string_view name;
  Promise promise;
  Kind kind;               // of its findings
  bool needs_no_deadlock;  // says nothing about T with potential for deadlock
  bool order_matters;      // may say something else of the same T observed otherwise
  bool (*violates)(const Truth&);
  const Analysis* analysis;  // nullptr: not there
};

const std::vector<Subject>& subjects();

// A way to run an analysis.
enum class Switch : std::uint8_t {
  kDefault,
  kNoEscape,
  kNoHappensBefore,
  kNoMultilockset,
  kNoAcqARel,
  kAllDetectors,
  kOneFinding,  // the verdict must not depend on how many findings are kept
};
inline constexpr std::size_t kSwitchCount = 7;

std::string_view word(Switch way);
AnalysisOptions options(Switch way);

}  // namespace tomos::predict
