#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/analyse.h"
#include "cli/command.h"
#include "cli/errors.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "report/json.h"
#include "report/layout.h"
#include "report/report.h"
#include "report/text.h"
#include "trace/open.h"

namespace tomos {

namespace {

constexpr const char* kDescription =
    "Find atomicity violations in recorded traces\n\n"
    "Reads binary (.tomos) or STD text traces, told apart by content, and reports every\n"
    "transaction that another thread cut. Exit status: 0 nothing found, 66 findings, 2 bad usage\n"
    "or input, 70 a bug in Tomos.\n";

constexpr const char* kExamples =
    "Examples:\n"
    "  tomos check run.tomos                     report on a recorded run\n"
    "  tomos check --analysis all *.tomos        every analysis over several runs, one report\n"
    "  tomos check --format json -o out.json run.tomos\n"
    "  zcat run.std.gz | tomos check -           from a pipe";

struct CheckOptions {
  std::vector<std::string> traces;
  std::string format = "text";
  std::string output;
  std::string analysis = "vector-clock";
  std::string edges = "data";
  bool lenient = false;
  std::size_t max_findings = AnalysisOptions().max_findings;
  std::string color = "auto";
  bool quiet = false;
  int exit_code = kFindings;
};

std::vector<const Analysis*> chosen(const std::string& list) {
  const std::vector<std::string> names = split(list, ',');
  std::vector<const Analysis*> result;
  for (const Analysis& analysis : analyses()) {
    if (contains(names, "all") || contains(names, analysis.name)) {
      result.push_back(&analysis);
    }
  }
  return result;
}

// The command that shows a finding of this trace again; none for what came through a pipe.
std::string again(const CheckOptions& options, const Finding& finding) {
  if (finding.input == input_name("-")) return "";
  std::string quoted = "'";
  for (const char c : finding.input) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  const bool plain =
      finding.input.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+,=@%-") ==
      std::string::npos;
  return fmt::format("tomos check --analysis {}{}{} {}", finding.analysis,
                     options.edges == "data" ? "" : " --edges " + options.edges,
                     options.lenient ? " --lenient" : "", plain ? finding.input : quoted + "'");
}

// Verdicts of one trace into those of all: a violation stays one, what is unknown stays unknown.
void combine(std::vector<Report::Judgement>& all, const std::vector<Report::Judgement>& one) {
  for (std::size_t i = 0; i < one.size(); ++i) {
    all[i].left_out += one[i].left_out;
    if (one[i].verdict == Verdict::kViolation || all[i].verdict == Verdict::kOk) {
      all[i].verdict = one[i].verdict;
    }
  }
}

void make_unknown(std::vector<Report::Judgement>& verdicts) {
  for (auto& judgement : verdicts) {
    if (judgement.verdict == Verdict::kOk) judgement.verdict = Verdict::kUnknown;
  }
}

// The most memory this process has had, in bytes. (getrusage would count that of the process that
// started it, too.)
std::uint64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word && word != "VmHWM:") continue;
  std::uint64_t kilobytes = 0;
  status >> kilobytes;
  return kilobytes * 1024;
}

class Check {
 public:
  explicit Check(const CheckOptions& options)
      : options_(options), chosen_(chosen(options.analysis)) {
    report_.tool = "check";
    for (const Analysis* analysis : chosen_) {
      report_.verdicts.push_back({.analysis = std::string(analysis->name)});
    }
  }

  int run() {
    std::optional<NewFile> file;
    if (!options_.output.empty()) {
      auto made = NewFile::at(options_.output);
      if (!made) return fail(made.error());
      file.emplace(std::move(*made));
    }
    stop_on_interrupt();
    const auto start = std::chrono::steady_clock::now();
    for (const std::string& path : options_.traces) {
      if (!interrupted())
        check(path);
      else
        report_.notes.push_back(input_name(path) + ": not analysed, because of the interrupt");
    }
    if (interrupted()) make_unknown(report_.verdicts);
    report_.findings = merge_equal(std::move(report_.findings));
    report_.stats.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report_.stats.peak_rss = peak_memory();

    if (const auto shown = show(file); !shown) return fail(shown.error());
    if (interrupted()) die_of_interrupt();
    if (bad_input_) return kBadInput;
    return report_.findings.empty() ? kNothingFound : options_.exit_code;
  }

 private:
  int fail(const Error& error) {
    print_error(error);
    return kBadInput;
  }

  void check(const std::string& path) {
    const std::string name = input_name(path);
    report_.inputs.push_back(name);
    auto trace = open_trace(path);
    if (!trace) {
      print_error(trace.error());
      bad_input_ = true;
      report_.notes.push_back(name + ": not analysed");
      make_unknown(report_.verdicts);
      return;
    }
    const AnalysisOptions options = {
        .edges = options_.edges == "sync" ? Edges::kSync : Edges::kData,
        .max_findings = options_.max_findings};
    Analysed result;
    {
      ProgressLine progress(name, options_.quiet);
      result = analyse(std::move(*trace), name, chosen_, options,
                       options_.lenient ? Validation::kLenient : Validation::kStrict, progress);
    }
    if (result.error) note_early_end(name, *result.error, result);
    if (result.skipped.total > 0) note_skipped(name, result.skipped);
    if (interrupted()) {
      report_.notes.push_back(
          fmt::format("{}: interrupted after {}; the report covers only what stands before", name,
                      counted(result.stats.events, "event")));
    }
    absorb(std::move(result));
  }

  void note_early_end(const std::string& name, const Error& error, Analysed& result) {
    report_.notes.push_back(fmt::format("{}: only what stands before the error was analysed ({})",
                                        name, counted(result.stats.events, "event")));
    if (options_.lenient) {
      print_warning(error);
      return;
    }
    print_error(error);
    bad_input_ = true;
    make_unknown(result.verdicts);
  }

  void note_skipped(const std::string& name, const Skipped& skipped) {
    std::string rules;
    for (const auto& [rule, count] : skipped.by_rule) {
      rules += fmt::format("{}{} x {}", rules.empty() ? "" : ", ", count, rule);
    }
    report_.notes.push_back(
        fmt::format("{}: skipped {} ({})", name, counted(skipped.total, "invalid event"), rules));
    print_warning(
        {.where = name,
         .what = fmt::format("{} skipped ({})", counted(skipped.total, "invalid event"), rules),
         .remedy = "The first: " + skipped.first});
  }

  void absorb(Analysed result) {
    combine(report_.verdicts, result.verdicts);
    for (Finding& finding : result.findings) {
      if (finding.replay.empty()) finding.replay = again(options_, finding);
      report_.findings.push_back(std::move(finding));
    }
    report_.stats.events += result.stats.events;
    report_.stats.threads += result.stats.threads;
    report_.stats.variables += result.stats.variables;
    report_.stats.locks += result.stats.locks;
    report_.stats.transactions += result.stats.transactions;
  }

  Result<void> show(std::optional<NewFile>& file) const {
    const auto print_report = [&](int descriptor) {
      if (options_.format == "json") return print_json(report_);
      return print_text(report_, {.color = use_color(options_.color, descriptor),
                                  .columns = terminal_columns(descriptor)});
    };
    if (file) {
      const auto written = file->write(print_report(-1));
      return written ? file->commit() : written;
    }
    return options_.quiet ? Result<void>() : write_standard_output(print_report(STDOUT_FILENO));
  }

  const CheckOptions& options_;
  std::vector<const Analysis*> chosen_;
  Report report_;
  bool bad_input_ = false;
};

}  // namespace

std::function<int()> declare_check(CLI::App& app) {
  app.footer(kExamples);
  auto options = std::make_shared<CheckOptions>();
  std::vector<std::string> names;
  std::string description = std::string(kDescription) + "\nAnalyses:\n";
  for (const Analysis& analysis : analyses()) {
    names.emplace_back(analysis.name);
    description += fmt::format("  {}: {}\n", analysis.name, analysis.says);
  }
  names.emplace_back("all");
  app.description(description);

  app.add_option("TRACE", options->traces, "Traces to judge; - is standard input")->required();
  app.add_option("--analysis", options->analysis, "Analyses to run, separated by commas, or all")
      ->type_name("LIST")
      ->check(list_of(names));
  app.add_option("--edges", options->edges,
                 "What orders transactions: conflicting accesses,\nor also release to acquire, "
                 "fork and join")
      ->type_name("")
      ->check(one_of({"data", "sync"}));
  app.add_flag("--lenient", options->lenient, "Warn about damage and invalid events and go on");
  app.add_option("--max-findings", options->max_findings,
                 "Distinct findings to keep for each analysis")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000'000));
  app.add_option("--format", options->format, "How the report looks")
      ->type_name("")
      ->check(one_of({"text", "json"}));
  app.add_option("-o,--output", options->output, "Write the report to this file")
      ->type_name("FILE");
  app.add_option("--color", options->color, "Colours in text")
      ->type_name("")
      ->check(one_of({"auto", "always", "never"}));
  app.add_flag("--quiet", options->quiet, "No report on standard output, no progress");
  app.add_option("--exit-code", options->exit_code, "Exit status when something is found")
      ->type_name("N")
      ->check(whole_number(0, 255));
  return [options] { return Check(*options).run(); };
}

}  // namespace tomos
