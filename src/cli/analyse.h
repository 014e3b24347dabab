// One trace through all chosen monitors, in one reading.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/progress.h"
#include "event/error.h"
#include "event/source.h"
#include "monitor/analyses.h"
#include "report/report.h"
#include "trace/validate.h"

namespace tomos {

struct Analysed {
  std::vector<Finding> findings;            // by analysis, then in the order of the trace
  std::vector<Report::Judgement> verdicts;  // as if the trace ended where reading ended
  Stats stats;                              // of the events that were analysed
  std::optional<Error> error;               // what ended the reading early
  Skipped skipped;
};

// Reads until the end, an error, or an interrupt (interrupt.h).
Analysed analyse(std::unique_ptr<Source> trace, const std::string& name,
                 const std::vector<const Analysis*>& chosen, const AnalysisOptions& options,
                 Validation validation, ProgressLine& progress);

}  // namespace tomos
