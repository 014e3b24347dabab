// One trace through all chosen monitors, in one reading.
#pragma once

#include <functional>
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
  std::vector<std::string> notes;           // what the monitors want the reader to know
  Stats stats;                              // of the events that were analysed
  std::optional<Error> error;               // what ended the reading early
  Skipped skipped;
  bool cut_short = false;  // by an interrupt
};

// Reads until the end, an error, or an interrupt (interrupt.h), which also ends what the monitors
// do after that. `complete`, if there is one, is called with each finding while the trace is still
// there, at its end.
Analysed analyse(std::unique_ptr<Source> trace, const std::string& name,
                 const std::vector<const Analysis*>& chosen, const AnalysisOptions& options,
                 Validation validation, ProgressLine& progress,
                 const std::function<void(Finding&)>& complete = {});

}  // namespace tomos
