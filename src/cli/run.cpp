#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/errors.h"
#include "cli/interrupt.h"
#include "cli/judge.h"
#include "cli/judge_options.h"
#include "cli/launch.h"
#include "cli/options.h"
#include "cli/project_file.h"
#include "cli/record_program.h"
#include "cli/recorded_process.h"

namespace tomos {

namespace {

constexpr const char* kRunDescription =
    "Run an instrumented program and report what was cut, or could have been\n\n"
    "The program must be built with tomos-c++ or tomos-cc. It runs as if it had been started\n"
    "without tomos: its input and output, its signals. When it has ended, the report goes to\n"
    "standard error.\n\n"
    "Exit status: 66 findings, 2 the program could not be run or judged, 70 a bug in Tomos; if\n"
    "nothing is found, the program's own.\n";

constexpr const char* kRunExamples =
    "Examples:\n"
    "  tomos run -- ./server --selftest          run it, then report\n"
    "  tomos run -o report.json --format json -- ctest\n"
    "                                            all programs that a test suite starts\n"
    "  tomos run --keep-recording rec -- ./server\n"
    "                                            for tomos check rec/recording afterwards";

constexpr const char* kDefaultAnalyses = "blocks,reduction,summarized,lock-order";

struct RunOptions {
  RecordOptions recording;
  JudgeOptions judging;
  std::string keep;
  bool analysis_given = false;
};

Result<RecordingFolder> folder_for(const RunOptions& options) {
  return options.keep.empty() ? RecordingFolder::temporary(temporary_folder() + "/tomos")
                              : RecordingFolder::kept(options.keep);
}

// Judges every process of the run; false if none was instrumented.
bool judge_all(const RunOptions& options, const RecordingFolder& folder, const std::string& program,
               Judge& judge) {
  bool any = false;
  for (const std::string& file : folder.recordings()) {
    auto process = RecordedProcess::open(file, program);
    folder.discard(file);
    if (!process) {
      judge.fail(process.error());
      judge.incomplete(file + ": not analysed");
      any = true;
      continue;
    }
    if (!process->is_instrumented()) continue;
    any = true;
    const std::string name = options.keep.empty() ? process->name() : file;
    judge.input(name);
    if (interrupted()) {
      judge.incomplete(name + ": not analysed, because of the interrupt");
      continue;
    }
    process->judge(judge, name);
    if (const std::string missing = process->missing(); !missing.empty()) {
      judge.incomplete(fmt::format("{}. {}", missing, folder.more_room()));
    }
    for (const std::string& note : process->notes()) judge.note(note);
  }
  return any;
}

int run(RunOptions& options) {
  const auto words = program_words(options.recording.program, "run");
  if (!words) return refuse(words.error());
  const auto project = read_project_file(options.recording.config);
  if (!project) return refuse(project.error());
  if (!options.analysis_given && !project->analysis.empty()) {
    options.judging.analysis = project->analysis;
  }
  if (!count_repeats(options.judging).empty()) options.recording.record_all = true;
  // A recording that is kept may be put to other analyses.
  options.recording.order_free =
      options.keep.empty() && std::ranges::all_of(chosen(options.judging), &Analysis::order_free);
  for (const Error& warning : without_effect(options.judging, "run")) print_warning(warning);
  auto file = report_file(options.judging);
  if (!file) return refuse(file.error());
  auto made = folder_for(options);
  if (!made) return refuse(made.error());
  // Gone before the end: that may be a death by the program's signal.
  std::optional<RecordingFolder> folder(std::move(*made));

  const auto status = record_program(*words, options.recording, *project, *folder);
  if (!status) return refuse(status.error());
  stop_on_interrupt("reporting on what has been recorded");
  Judge judge("run", options.judging);
  const bool instrumented = judge_all(options, *folder, words->front(), judge);
  folder.reset();
  if (!instrumented) return refuse(not_instrumented(words->front(), *status));
  if (WIFSIGNALED(*status)) {
    judge.note(fmt::format("{}: died of {}; the report covers what it did before", words->front(),
                           describe_status(*status)));
  }
  Report& report = judge.finish();
  report.findings = agree(std::move(report.findings));
  if (!options.keep.empty()) {
    for (Finding& finding : report.findings) finding.replay = again(options.judging, finding);
  }
  if (const auto shown = show(report, options.judging, *file, STDERR_FILENO); !shown) {
    return refuse(shown.error());
  }
  if (interrupted()) die_of_interrupt();
  if (judge.bad_input()) return kBadInput;
  return report.findings.empty() ? pass_on(*status) : options.judging.exit_code;
}

}  // namespace

std::function<int()> declare_run(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  options->judging.analysis = kDefaultAnalyses;
  options->judging.lenient = true;
  app.description(kRunDescription + list_analyses());
  app.footer(kRunExamples);
  declare_recording(options->recording, app);
  app.add_option("--keep-recording", options->keep, "Keep the raw recording in this folder")
      ->type_name("DIR");
  declare_judging(options->judging, app, "standard error");
  return [options, &app] {
    options->analysis_given = app.get_option("--analysis")->count() > 0;
    return run(*options);
  };
}

}  // namespace tomos
