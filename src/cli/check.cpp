#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/errors.h"
#include "cli/interrupt.h"
#include "cli/judge.h"
#include "cli/judge_options.h"
#include "cli/recorded_process.h"
#include "trace/open.h"

namespace tomos {

namespace {

constexpr const char* kCheckDescription =
    "Find atomicity violations in recorded traces\n\n"
    "Reads binary (.tomos) or STD text traces, or raw recordings, told apart by content, and\n"
    "reports every transaction that another thread cut, or could have cut under another "
    "schedule.\n\n"
    "Exit status: 0 nothing found, 66 findings, 2 bad usage or input, 70 a bug in Tomos.\n";

constexpr const char* kCheckExamples =
    "Examples:\n"
    "  tomos check run.tomos                     report on a recorded run\n"
    "  tomos check --analysis blocks,lock-order run.tomos\n"
    "                                            also what could have happened\n"
    "  tomos check --analysis all *.tomos        every analysis over several runs, one report\n"
    "  tomos check --format json -o out.json run.tomos\n"
    "  zcat run.std.gz | tomos check -           from a pipe";

struct CheckOptions {
  std::vector<std::string> traces;
  JudgeOptions judging;
};

void check(const std::string& path, const JudgeOptions& options, Judge& judge) {
  const std::string name = input_name(path);
  judge.input(name);
  if (is_recording(path)) {
    auto process = RecordedProcess::open(path, "");
    if (process) {
      process->judge(judge, name);
      if (const std::string missing = process->missing(); !missing.empty())
        judge.incomplete(missing);
      for (const std::string& note : process->notes()) judge.note(note);
      if (const auto counting = count_repeats(options); process->is_filtered() && !counting.empty())
        judge.note(
            fmt::format("{}: repeated accesses were not recorded; {} may miss something without "
                        "them. Record with --record-all",
                        name, fmt::join(counting, ", ")));
    } else {
      judge.fail(process.error());
      judge.incomplete(name + ": not analysed");
    }
    return;
  }
  auto trace = open_trace(path);
  if (!trace) {
    judge.fail(trace.error());
    judge.incomplete(name + ": not analysed");
    return;
  }
  judge.judge(std::move(*trace), name);
}

int run(const CheckOptions& options) {
  for (const Error& warning : without_effect(options.judging, "check")) print_warning(warning);
  auto file = report_file(options.judging);
  if (!file) return refuse(file.error());
  stop_on_interrupt("reporting on what has been read");
  Judge judge("check", options.judging);
  for (const std::string& path : options.traces) {
    if (!interrupted()) {
      check(path, options.judging, judge);
    } else {
      judge.incomplete(input_name(path) + ": not analysed, because of the interrupt");
    }
  }
  Report& report = judge.finish();
  for (Finding& finding : report.findings) {
    if (finding.replay.empty()) finding.replay = again(options.judging, finding);
  }
  if (const auto shown = show(report, options.judging, *file, STDOUT_FILENO); !shown) {
    return refuse(shown.error());
  }
  if (interrupted()) die_of_interrupt();
  if (judge.bad_input()) return kBadInput;
  return report.findings.empty() ? kNothingFound : options.judging.exit_code;
}

}  // namespace

std::function<int()> declare_check(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  app.description(kCheckDescription + list_analyses());
  app.footer(kCheckExamples);
  app.add_option("TRACE", options->traces, "Traces to judge; - is standard input")->required();
  app.add_flag("--lenient", options->judging.lenient,
               "Warn about damage and invalid events and go on");
  declare_judging(options->judging, app, "standard output");
  return [options] { return run(*options); };
}

}  // namespace tomos
