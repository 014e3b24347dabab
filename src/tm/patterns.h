// Anomaly patterns: section 3.2 of the paper, and such as users write.
//
//   RwR: R(x) / W(x) / R(y)
//
// The parts are two transactions of one thread and, between the slashes, the one that comes between
// them. Different letters are different variables; !R(x) means that x is not read there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "event/error.h"
#include "tm/traces.h"

namespace tomos::tm {

struct PatternStep {
  bool writes = false;
  bool negated = false;
  std::size_t variable = 0;
};

struct Pattern {
  std::string name;
  std::vector<PatternStep> first;
  std::vector<PatternStep> cut;
  std::vector<PatternStep> second;
  std::size_t variables = 0;
};

// Lines as above; `#` begins a comment. Errors name line and column.
Result<std::vector<Pattern>> parse_patterns(std::string_view text, const std::string& file);

// RwR, WrW, RwW as the paper has them.
const std::vector<Pattern>& base_patterns();

// Two transactions that should be one, and what comes between them.
struct Anomaly {
  std::string pattern;
  TransactionId first = 0;
  TransactionId cut = 0;
  TransactionId second = 0;
  LocationId one = {};    // what the first half and the one between disagree on
  LocationId other = {};  // the same for the second half; may be the same
  std::string doubt;
};

// As the paper: neighbours only, any transaction may come between, and a variable is a field, of
// whichever object.
std::vector<Anomaly> match_patterns(const Program& program, const Traces& traces,
                                    const std::vector<Pattern>& patterns);

}  // namespace tomos::tm
