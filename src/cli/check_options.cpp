#include "cli/check_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "cli/options.h"
#include "trace/open.h"

namespace tomos {

namespace {

constexpr const char* kDescription =
    "Find atomicity violations in recorded traces\n\n"
    "Reads binary (.tomos) or STD text traces, told apart by content, and reports every\n"
    "transaction that another thread cut, or could have cut under another schedule.\n\n"
    "Exit status: 0 nothing found, 66 findings, 2 bad usage or input, 70 a bug in Tomos.\n";

constexpr const char* kExamples =
    "Examples:\n"
    "  tomos check run.tomos                     report on a recorded run\n"
    "  tomos check --analysis blocks,lock-order run.tomos\n"
    "                                            also what could have happened\n"
    "  tomos check --analysis all *.tomos        every analysis over several runs, one report\n"
    "  tomos check --format json -o out.json run.tomos\n"
    "  zcat run.std.gz | tomos check -           from a pipe";

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

std::string description() {
  std::string text = kDescription;
  text += "\nAnalyses that judge the run as it was:\n" + list(false);
  text += "\nAnalyses that predict what other schedules of it could do:\n" + list(true);
  return text;
}

// A switch that turns a part of the predictive analyses off, and the analyses that have this part.
struct Switch {
  const char* name;
  const char* description;
  bool CheckOptions::* is_off;
  std::vector<std::string> heeded_by;
};

const std::vector<Switch>& switches() {
  static const std::vector<Switch> all = {
      {"--no-escape",
       "Predict without escape analysis: accesses count\nalso before the variable escapes",
       &CheckOptions::no_escape,
       {"reduction", "blocks-1v", "blocks", "blocks-all", "races"}},
      {"--no-happens-before",
       "Predict as if fork, join and barrier ordered\nnothing",
       &CheckOptions::no_happens_before,
       {"reduction", "blocks-1v", "blocks", "blocks-all", "races", "lock-order"}},
      {"--no-multilockset",
       "Reduce with races as the older lockset algorithms\nfind them",
       &CheckOptions::no_multilockset,
       {"reduction"}},
      {"--no-acq-a-rel",
       "Reduce by Theorem 1: a lock around nothing but\nread-only or thread-local data counts as "
       "well",
       &CheckOptions::no_acq_a_rel,
       {"reduction"}}};
  return all;
}

// As one word of a shell command.
std::string quoted(const std::string& text) {
  const bool plain = text.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+,=@%"
                         "-") == std::string::npos;
  if (plain) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

void declare(CheckOptions& options, CLI::App& app) {
  app.description(description());
  app.footer(kExamples);
  std::vector<std::string> names;
  for (const Analysis& analysis : analyses()) names.emplace_back(analysis.name);
  names.emplace_back("all");
  std::vector<std::string> detectors;
  detectors.reserve(kDetectors.size());
  for (const auto& [name, detector] : kDetectors) detectors.emplace_back(name);

  app.add_option("TRACE", options.traces, "Traces to judge; - is standard input")->required();
  app.add_option("--analysis", options.analysis, "Analyses to run, separated by commas, or all")
      ->type_name("LIST")
      ->check(list_of(names));
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
  app.add_flag("--lenient", options.lenient, "Warn about damage and invalid events and go on");
  app.add_option("--max-findings", options.max_findings,
                 "Distinct findings to keep for each analysis")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000'000));
  app.add_option("--format", options.format, "How the report looks")
      ->type_name("")
      ->check(one_of({"text", "json"}));
  app.add_option("-o,--output", options.output, "Write the report to this file")->type_name("FILE");
  app.add_option("--color", options.color, "Colours in text")
      ->type_name("")
      ->check(one_of({"auto", "always", "never"}));
  app.add_flag("--quiet", options.quiet, "No report on standard output, no progress");
  app.add_option("--exit-code", options.exit_code, "Exit status when something is found")
      ->type_name("N")
      ->check(whole_number(0, 255));
}

std::vector<const Analysis*> chosen(const CheckOptions& options) {
  const std::vector<std::string> names = split(options.analysis, ',');
  std::vector<const Analysis*> result;
  for (const Analysis& analysis : analyses()) {
    if (contains(names, "all") || contains(names, analysis.name)) result.push_back(&analysis);
  }
  return result;
}

AnalysisOptions for_monitors(const CheckOptions& options) {
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

std::vector<Error> without_effect(const CheckOptions& options) {
  std::vector<Error> warnings;
  const auto check = [&](bool given, const char* option, const std::vector<std::string>& heeding) {
    const bool heeded = std::ranges::any_of(
        chosen(options), [&](const Analysis* one) { return contains(heeding, one->name); });
    if (!given || heeded) return;
    warnings.push_back(
        {.where = "check",
         .what = fmt::format("{} has no effect: none of the chosen analyses heeds it", option),
         .remedy = fmt::format("Those that do: {}.", fmt::join(heeding, ", "))});
  };
  check(options.edges != CheckOptions().edges, "--edges",
        {"conflict-graph", "summarized", "vector-clock"});
  check(options.races != CheckOptions().races, "--races", {"races"});
  for (const Switch& one : switches()) check(options.*one.is_off, one.name, one.heeded_by);
  return warnings;
}

std::string again(const CheckOptions& options, const Finding& finding) {
  if (finding.input == input_name("-")) return "";
  std::string command = "tomos check --analysis " + finding.analysis;
  if (finding.verdict == Certainty::kPredicted) {
    for (const Switch& one : switches()) {
      if (options.*one.is_off) command += fmt::format(" {}", one.name);
    }
  } else if (options.edges != CheckOptions().edges) {
    command += " --edges " + options.edges;
  }
  if (finding.analysis == "races" && options.races != CheckOptions().races) {
    command += " --races " + options.races;
  }
  if (options.lenient) command += " --lenient";
  return command + ' ' + quoted(finding.input);
}

}  // namespace tomos
