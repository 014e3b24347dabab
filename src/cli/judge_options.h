// The options of every command that judges runs (check, run), and what follows from them.
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

struct JudgeOptions {
  std::string format = "text";
  std::string output;
  std::string analysis = "vector-clock";
  std::string edges = "data";
  std::string races = "multilockset";
  bool no_escape = false;
  bool no_happens_before = false;
  bool no_multilockset = false;
  bool no_acq_a_rel = false;
  std::size_t max_findings = AnalysisOptions().max_findings;
  std::string color = "auto";
  bool quiet = false;
  bool lenient = false;  // damage and invalid events are warned about
  int exit_code = kFindings;
};

// Only those about the report: its format, where it goes, and the exit status. `where` is where the
// report goes unless -o says otherwise: "standard output".
void declare_report(JudgeOptions& options, CLI::App& app, const std::string& where);
// All of them.
void declare_judging(JudgeOptions& options, CLI::App& app, const std::string& where);

// For the description of a command: the analyses, one a line.
std::string list_analyses();
// What --analysis may name.
std::vector<std::string> analysis_names();

// The analyses asked for, in the order of the table.
std::vector<const Analysis*> chosen(const JudgeOptions& options);

// Those of them whose verdict can depend on accesses that recordings leave out unless told to keep
// all. (Of the others tests/filter shows that it cannot.)
std::vector<std::string> count_repeats(const JudgeOptions& options);

AnalysisOptions for_monitors(const JudgeOptions& options);

// A warning for each option that none of the chosen analyses heeds.
std::vector<Error> without_effect(const JudgeOptions& options, const std::string& command);

// The command that shows a finding of a trace again; none for what came through a pipe.
std::string again(const JudgeOptions& options, const Finding& finding);

}  // namespace tomos
