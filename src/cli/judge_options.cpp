#include "cli/judge_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "cli/options.h"
#include "trace/open.h"

namespace tomos {

namespace {

constexpr std::array kDetectors = {std::pair{"eraser", RaceDetector::kEraser},
                                   std::pair{"object", RaceDetector::kObject},
                                   std::pair{"atomizer", RaceDetector::kAtomizer},
                                   std::pair{"multilockset", RaceDetector::kMultilockset}};

// One line for each analysis of one kind.
std::string list(bool predicting) {
  std::string text;
  for (const Analysis& analysis : analyses()) {
    if (analysis.predicts != predicting) continue;
    text += fmt::format("  {}: {}\n", analysis.name, analysis.says);
  }
  return text;
}

// A switch that turns a part of the predictive analyses off, and the analyses that have this part.
struct Switch {
  const char* name;
  const char* description;
  bool JudgeOptions::* is_off;
  std::vector<std::string> heeded_by;
};

const std::vector<Switch>& switches() {
  static const std::vector<Switch> all = {
      {"--no-escape",
       "Predict without escape analysis: accesses count\nalso before the variable escapes",
       &JudgeOptions::no_escape,
       {"reduction", "blocks-1v", "blocks", "blocks-all", "races"}},
      {"--no-happens-before",
       "Predict as if fork, join and barrier ordered\nnothing",
       &JudgeOptions::no_happens_before,
       {"reduction", "blocks-1v", "blocks", "blocks-all", "races", "lock-order"}},
      {"--no-multilockset",
       "Reduce with races as the older lockset algorithms\nfind them",
       &JudgeOptions::no_multilockset,
       {"reduction"}},
      {"--no-acq-a-rel",
       "Reduce by Theorem 1: a lock around nothing but\nread-only or thread-local data counts as "
       "well",
       &JudgeOptions::no_acq_a_rel,
       {"reduction"}}};
  return all;
}

}  // namespace

std::vector<std::string> analysis_names() {
  std::vector<std::string> names;
  for (const Analysis& analysis : analyses()) names.emplace_back(analysis.name);
  names.emplace_back("all");
  return names;
}

std::string list_analyses() {
  return "\nAnalyses that judge the run as it was:\n" + list(false) +
         "\nAnalyses that predict what other schedules of it could do:\n" + list(true);
}

void declare_judging(JudgeOptions& options, CLI::App& app, const std::string& where) {
  std::vector<std::string> detectors;
  detectors.reserve(kDetectors.size());
  for (const auto& [name, detector] : kDetectors) detectors.emplace_back(name);

  app.add_option("--analysis", options.analysis, "Analyses to run, separated by commas, or all")
      ->type_name("LIST")
      ->check(list_of(analysis_names()));
  app.add_option("--edges", options.edges,
                 "What orders transactions: conflicting accesses,\nor also release to acquire, "
                 "fork and join")
      ->type_name("")
      ->check(one_of({"data", "sync"}));
  app.add_option("--races", options.races,
                 "How the analysis races looks for them: some of\neraser, object, atomizer, "
                 "multilockset")
      ->type_name("LIST")
      ->check(list_of(detectors));
  for (const Switch& one : switches()) app.add_flag(one.name, options.*one.is_off, one.description);
  app.add_option("--max-findings", options.max_findings,
                 "Distinct findings to keep for each analysis")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000'000));
  declare_report(options, app, where);
}

void declare_report(JudgeOptions& options, CLI::App& app, const std::string& where) {
  app.add_option("--format", options.format, "How the report looks")
      ->type_name("")
      ->check(one_of({"text", "json", "sarif", "html"}));
  app.add_option("-o,--output", options.output, "Write the report to this file")->type_name("FILE");
  app.add_option("--color", options.color, "Colours in text")
      ->type_name("")
      ->check(one_of({"auto", "always", "never"}));
  app.add_flag("--quiet", options.quiet, "No report on " + where + ", no progress");
  app.add_option("--exit-code", options.exit_code, "Exit status when something is found")
      ->type_name("N")
      ->check(whole_number(0, 255));
}

std::vector<const Analysis*> chosen(const JudgeOptions& options) {
  const std::vector<std::string> names = split(options.analysis, ',');
  std::vector<const Analysis*> result;
  for (const Analysis& analysis : analyses()) {
    if (contains(names, "all") || contains(names, analysis.name)) result.push_back(&analysis);
  }
  return result;
}

std::vector<std::string> count_repeats(const JudgeOptions& options) {
  std::vector<std::string> names;
  for (const Analysis* analysis : chosen(options)) {
    if (analysis->counts_repeats) names.emplace_back(analysis->name);
    if (analysis->name == "races" && contains(split(options.races, ','), "object")) {
      names.emplace_back("races --races object");
    }
  }
  return names;
}

AnalysisOptions for_monitors(const JudgeOptions& options) {
  AnalysisOptions result;
  result.edges = options.edges == "sync" ? Edges::kSync : Edges::kData;
  result.max_findings = options.max_findings;
  result.escape = !options.no_escape;
  result.happens_before = !options.no_happens_before;
  result.multilockset = !options.no_multilockset;
  result.acq_a_rel = !options.no_acq_a_rel;
  result.races.clear();
  const std::vector<std::string> names = split(options.races, ',');
  for (const auto& [name, detector] : kDetectors) {
    if (contains(names, name)) result.races.push_back(detector);
  }
  return result;
}

std::vector<Error> without_effect(const JudgeOptions& options, const std::string& command) {
  std::vector<Error> warnings;
  const auto check = [&](bool given, const char* option, const std::vector<std::string>& heeding) {
    const bool heeded = std::ranges::any_of(
        chosen(options), [&](const Analysis* one) { return contains(heeding, one->name); });
    if (!given || heeded) return;
    warnings.push_back(
        {.where = command,
         .what = fmt::format("{} has no effect: none of the chosen analyses heeds it", option),
         .remedy = fmt::format("Those that do: {}.", fmt::join(heeding, ", "))});
  };
  check(options.edges != JudgeOptions().edges, "--edges",
        {"conflict-graph", "summarized", "vector-clock"});
  check(options.races != JudgeOptions().races, "--races", {"races"});
  for (const Switch& one : switches()) check(options.*one.is_off, one.name, one.heeded_by);
  return warnings;
}

std::string again(const JudgeOptions& options, const Finding& finding) {
  if (finding.input == input_name("-")) return "";
  std::string command = "tomos check --analysis " + finding.analysis;
  if (finding.verdict == Certainty::kPredicted) {
    for (const Switch& one : switches()) {
      if (options.*one.is_off) command += fmt::format(" {}", one.name);
    }
  } else if (options.edges != JudgeOptions().edges) {
    command += " --edges " + options.edges;
  }
  if (finding.analysis == "races" && options.races != JudgeOptions().races) {
    command += " --races " + options.races;
  }
  if (options.lenient) command += " --lenient";
  return command + ' ' + quoted(finding.input);
}

}  // namespace tomos
