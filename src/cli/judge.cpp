#include "cli/judge.h"

#include <fmt/format.h>

#include <fstream>
#include <utility>

#include "cli/errors.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "report/html.h"
#include "report/json.h"
#include "report/layout.h"
#include "report/sarif.h"
#include "report/text.h"

namespace tomos {

namespace {

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

}  // namespace

std::uint64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word && word != "VmHWM:") continue;
  std::uint64_t kilobytes = 0;
  status >> kilobytes;
  return kilobytes * 1024;
}

Judge::Judge(const std::string& tool, const JudgeOptions& options)
    : options_(options), chosen_(chosen(options)) {
  report_.tool = tool;
  for (const Analysis* analysis : chosen_) {
    report_.verdicts.push_back({.analysis = std::string(analysis->name)});
  }
}

void Judge::fail(const Error& error) {
  print_error(error);
  bad_input_ = true;
}

void Judge::incomplete(const std::string& note) {
  report_.notes.push_back(note);
  make_unknown(report_.verdicts);
}

void Judge::judge(std::unique_ptr<Source> trace, const std::string& name,
                  const std::function<void(Finding&)>& complete) {
  Analysed result;
  {
    ProgressLine progress(name, options_.quiet);
    result =
        analyse(std::move(trace), name, chosen_, for_monitors(options_),
                options_.lenient ? Validation::kLenient : Validation::kStrict, progress, complete);
  }
  if (result.error) note_early_end(name, *result.error, result);
  if (result.skipped.total > 0) note_skipped(name, result.skipped);
  if (result.cut_short) {
    make_unknown(result.verdicts);
    note(fmt::format("{}: interrupted after {}; the report covers only what stands before", name,
                     counted(result.stats.events, "event")));
  }
  for (const std::string& sentence : result.notes) note(sentence);
  absorb(std::move(result));
}

void Judge::note_early_end(const std::string& name, const Error& error, Analysed& result) {
  note(fmt::format("{}: only what stands before the error was analysed ({})", name,
                   counted(result.stats.events, "event")));
  if (options_.lenient) {
    print_warning(error);
    return;
  }
  fail(error);
  make_unknown(result.verdicts);
}

void Judge::note_skipped(const std::string& name, const Skipped& skipped) {
  std::string rules;
  for (const auto& [rule, count] : skipped.by_rule) {
    rules += fmt::format("{}{} x {}", rules.empty() ? "" : ", ", count, rule);
  }
  note(fmt::format("{}: skipped {} ({})", name, counted(skipped.total, "invalid event"), rules));
  print_warning(
      {.where = name,
       .what = fmt::format("{} skipped ({})", counted(skipped.total, "invalid event"), rules),
       .remedy = "The first: " + skipped.first});
}

void Judge::absorb(Analysed result) {
  combine(report_.verdicts, result.verdicts);
  for (Finding& finding : result.findings) report_.findings.push_back(std::move(finding));
  report_.stats.events += result.stats.events;
  report_.stats.threads += result.stats.threads;
  report_.stats.variables += result.stats.variables;
  report_.stats.locks += result.stats.locks;
  report_.stats.transactions += result.stats.transactions;
}

Report& Judge::finish() {
  report_.findings = merge_equal(std::move(report_.findings));
  report_.stats.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  report_.stats.peak_rss = peak_memory();
  return report_;
}

Result<std::optional<NewFile>> report_file(const JudgeOptions& options) {
  if (options.output.empty()) return std::nullopt;
  auto made = NewFile::at(options.output);
  if (!made) return std::unexpected(std::move(made.error()));
  return std::optional<NewFile>(std::move(*made));
}

Result<void> show(const Report& report, const JudgeOptions& options, std::optional<NewFile>& file,
                  int descriptor) {
  const auto print_report = [&](int to) {
    if (options.format == "json") return print_json(report);
    if (options.format == "sarif") return print_sarif(report, TOMOS_VERSION);
    if (options.format == "html") return print_html(report);
    return print_text(report,
                      {.color = use_color(options.color, to), .columns = terminal_columns(to)});
  };
  if (file) {
    const auto written = file->write(print_report(-1));
    return written ? file->commit() : written;
  }
  return options.quiet ? Result<void>() : write_to(descriptor, print_report(descriptor));
}

}  // namespace tomos
