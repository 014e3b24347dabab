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
#include "cli/check_options.h"
#include "cli/command.h"
#include "cli/errors.h"
#include "cli/interrupt.h"
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
  explicit Check(const CheckOptions& options) : options_(options), chosen_(chosen(options)) {
    report_.tool = "check";
    for (const Analysis* analysis : chosen_) {
      report_.verdicts.push_back({.analysis = std::string(analysis->name)});
    }
  }

  int run() {
    for (const Error& warning : without_effect(options_)) print_warning(warning);
    std::optional<NewFile> file;
    if (!options_.output.empty()) {
      auto made = NewFile::at(options_.output);
      if (!made) return fail(made.error());
      file.emplace(std::move(*made));
    }
    stop_on_interrupt();
    const auto start = std::chrono::steady_clock::now();
    for (const std::string& path : options_.traces) {
      if (!interrupted()) {
        check(path);
      } else {
        report_.notes.push_back(input_name(path) + ": not analysed, because of the interrupt");
        make_unknown(report_.verdicts);
      }
    }
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
    Analysed result;
    {
      ProgressLine progress(name, options_.quiet);
      result = analyse(std::move(*trace), name, chosen_, for_monitors(options_),
                       options_.lenient ? Validation::kLenient : Validation::kStrict, progress);
    }
    if (result.error) note_early_end(name, *result.error, result);
    if (result.skipped.total > 0) note_skipped(name, result.skipped);
    if (result.cut_short) {
      make_unknown(result.verdicts);
      report_.notes.push_back(
          fmt::format("{}: interrupted after {}; the report covers only what stands before", name,
                      counted(result.stats.events, "event")));
    }
    for (std::string& note : result.notes) report_.notes.push_back(std::move(note));
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
  auto options = std::make_shared<CheckOptions>();
  declare(*options, app);
  return [options] { return Check(*options).run(); };
}

}  // namespace tomos
