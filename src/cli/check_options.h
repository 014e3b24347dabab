// The options of `tomos check`, and what follows from them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "cli/command.h"
#include "event/error.h"
#include "monitor/analyses.h"
#include "report/finding.h"

namespace tomos {

struct CheckOptions {
  std::vector<std::string> traces;
  std::string format = "text";
  std::string output;
  std::string analysis = "vector-clock";
  std::string edges = "data";
  std::string races = "multilockset";
  bool no_escape = false;
  bool no_happens_before = false;
  bool no_multilockset = false;
  bool no_acq_a_rel = false;
  bool lenient = false;
  std::size_t max_findings = AnalysisOptions().max_findings;
  std::string color = "auto";
  bool quiet = false;
  int exit_code = kFindings;
};

void declare(CheckOptions& options, CLI::App& app);

// The analyses asked for, in the order of the table.
std::vector<const Analysis*> chosen(const CheckOptions& options);

AnalysisOptions for_monitors(const CheckOptions& options);

// A warning for each option that none of the chosen analyses heeds.
std::vector<Error> without_effect(const CheckOptions& options);

// The command that shows a finding of this trace again; none for what came through a pipe.
std::string again(const CheckOptions& options, const Finding& finding);

}  // namespace tomos
