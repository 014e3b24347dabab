#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "campaign/area_file.h"
#include "campaign/found.h"
#include "campaign/native.h"
#include "campaign/plan.h"
#include "campaign/program.h"
#include "campaign/runner.h"
#include "campaign/schedule_file.h"
#include "cli/command.h"
#include "cli/errors.h"
#include "cli/interrupt.h"
#include "cli/judge.h"
#include "cli/judge_options.h"
#include "cli/launch.h"
#include "cli/launch_functions.h"
#include "cli/options.h"
#include "cli/schedule_options.h"
#include "report/layout.h"

namespace tomos {

namespace {

constexpr const char* kReplayDescription =
    "Run a trial of 'tomos fuzz' once more\n\n"
    "A trial is its seed: with the same options and the same program it takes the same course,\n"
    "event for event. A schedule that 'tomos fuzz --corpus' has saved brings its options along, "
    "and\n"
    "the program unless another is named. The program's output goes where it would without tomos;\n"
    "what the trial shows is reported on standard error.\n\n"
    "Exit status: 66 if the trial shows a finding, 2 if it could not be run, 70 a bug in Tomos;\n"
    "otherwise the program's own.\n";

constexpr const char* kReplayExamples =
    "Examples:\n"
    "  tomos replay --seed 17 -- ./server --selftest\n"
    "  tomos replay found/9d6e10d669877a91.schedule\n"
    "  tomos replay --debug --seed 17 -- ./server --selftest\n"
    "                                            under gdb";

struct ReplayOptions {
  std::string file;
  std::vector<std::string> program;  // as the option parser gives it: see launch.h
  std::optional<std::uint64_t> seed;
  ScheduleOptions schedule;
  std::uint64_t times = 1;
  bool debug = false;
  JudgeOptions report;
};

// What is to be run.
struct Task {
  std::vector<std::string> words;
  campaign::Order order;
  std::optional<campaign::ScheduleFile> file;
  std::optional<std::uint64_t> hash;  // of the schedule, if it is known
  std::string command;                // that does this
  std::string missed;                 // the first stretch that was to be followed and was not
  bool followed = false;              // to the end of the last one
};

Error usage(std::string what) {
  return {.where = "replay",
          .what = std::move(what),
          .remedy =
              "Write 'tomos replay --seed S -- PROG ARGS', or 'tomos replay FILE' for a "
              "schedule that 'tomos fuzz --corpus' has saved."};
}

Result<Task> task_of(ReplayOptions options) {
  // The first word is FILE for the option parser even if it stands behind "--".
  if (options.file.starts_with('=')) {
    options.program.insert(options.program.begin(), std::exchange(options.file, {}));
  }
  Task task;
  if (!options.program.empty()) {
    auto words = program_words(options.program, "replay");
    if (!words) return std::unexpected(words.error());
    task.words = std::move(*words);
  }
  if (options.file.empty()) {
    if (!options.seed) return std::unexpected(usage("neither a seed nor a schedule is given"));
    if (task.words.empty()) return std::unexpected(usage("the program is missing"));
    task.command = replay_command(options.schedule, *options.seed, task.words);
    return task;
  }
  if (options.seed) return std::unexpected(usage("both a seed and a schedule are given"));
  auto file = campaign::read_schedule(options.file);
  if (!file) return std::unexpected(file.error());
  task.command = "tomos replay " + tomos::quoted(options.file);
  if (task.words.empty() && file->words.empty()) {
    return std::unexpected(usage("the program is missing: the schedule names none"));
  }
  if (task.words.empty()) {
    task.words = file->words;
  } else {
    task.command += " --";
    for (const std::string& word : task.words) task.command += ' ' + tomos::quoted(word);
  }
  if (file->stretches.empty()) {
    task.order = file->order();
    task.hash = file->hash;
  }
  task.file = std::move(*file);
  return task;
}

// Becomes gdb, with everything set so that `run` gives the trial.
Error debug(const campaign::Program& program, campaign::Order order) {
  auto area = campaign::AreaFile::make();
  if (!area) return area.error();
  order.settings.debug = 1;
  area->prepare(order);
  area->survive_exec();
  // Through env, so that the shell that gdb starts the program with is not taken for the program.
  std::string wrapper = "set exec-wrapper env";
  for (const std::string& variable : program.additions(area->path())) {
    wrapper += ' ' + tomos::quoted(variable);
  }
  std::vector<std::string> words = {"gdb", "-q", "-ex", wrapper, "--args"};
  words.push_back(program.path());
  words.insert(words.end(), program.words().begin() + 1, program.words().end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  fmt::print(stderr, "tomos: under gdb; 'run' gives the trial, once\n");
  restore_inherited_signals();
  ::execvp(argv[0], argv.data());
  return {.where = "gdb",
          .what = "cannot be started: " + std::error_code(errno, std::generic_category()).message(),
          .remedy = "Install gdb, or replay without --debug."};
}

// How the schedules of the trials compare with each other and with what was recorded.
std::vector<std::string> compare(const std::vector<campaign::Trial>& trials,
                                 const std::optional<std::uint64_t>& recorded) {
  std::vector<std::string> notes;
  const campaign::Trial& first = trials.front();
  std::set<std::uint64_t> hashes;
  for (const campaign::Trial& trial : trials) hashes.insert(trial.hash);
  const auto equal = std::ranges::count(trials, first.hash, &campaign::Trial::hash);
  if (trials.size() > 1) {
    notes.push_back(
        hashes.size() == 1
            ? fmt::format("all {} replays took the same course (hash {:016x})", trials.size(),
                          first.hash)
            : fmt::format("{} of {} replays took the same course (hash {:016x}), the others {} "
                          "different ones",
                          equal, trials.size(), first.hash, hashes.size() - 1));
  }
  if (recorded && hashes == std::set{*recorded}) {
    notes.push_back(fmt::format("this is the schedule that was asked for: {}, {}, hash {:016x}",
                                counted(first.steps, "step"),
                                counted(first.preemptions, "preemption"), first.hash));
  } else if (recorded && first.is(schedule::kDiverged)) {
    notes.push_back(fmt::format(
        "not the schedule that was asked for: it took another course at step {}. Is it the same "
        "program, with the same arguments and input?",
        first.diverged_at));
  } else if (recorded) {
    notes.push_back(fmt::format(
        "not quite the schedule that was asked for: all choices came up, but the events between "
        "them differ (hash {:016x} instead of {:016x})",
        first.hash, *recorded));
  }
  if (first.is(schedule::kLetGo)) {
    notes.push_back(
        fmt::format("a thread had to be let go ({}): the schedule need not come out the same again",
                    first.let_go));
  }
  return notes;
}

// A run that a model checker has thought out is a violation itself, step by step: if the program
// has gone all the way, it has done it, whatever evidence of its own the scheduler has.
std::optional<Finding> shown_by_going(const Task& task, const std::vector<campaign::Trial>& trials,
                                      const std::vector<Finding>& others) {
  if (!task.file || !task.file->finding || !task.followed) return std::nullopt;
  const bool is_known = std::ranges::find(others, Kind::kAtomicity, &Finding::kind) != others.end();
  const auto went = std::ranges::count_if(
      trials, [](const campaign::Trial& trial) { return !trial.is(schedule::kDiverged); });
  if (is_known || went == 0) return std::nullopt;
  Finding finding = *task.file->finding;
  finding.verdict = Certainty::kConfirmed;
  finding.count = static_cast<std::uint64_t>(went);
  return finding;
}

Report report_on(const Task& task, campaign::Found& found,
                 const std::vector<campaign::Trial>& trials, double seconds) {
  Report report;
  report.tool = "replay";
  report.inputs = {task.words.front()};
  std::vector<Finding> findings;
  for (const campaign::Trial& trial : trials) {
    found.add(trial);
    for (auto& shown : found.describe(trial)) findings.push_back(std::move(shown.finding));
  }
  report.findings = merge_equal(std::move(findings));
  report.trials = found.trials();
  report.stats = {.events = found.steps(), .threads = found.most_threads(), .seconds = seconds};
  report.verdicts = {{.analysis = "fuzz",
                      .verdict = report.findings.empty() ? Verdict::kOk : Verdict::kViolation}};
  if (const auto shown = shown_by_going(task, trials, report.findings)) {
    report.verdicts.push_back({.analysis = shown->analysis, .verdict = Verdict::kViolation});
    report.findings.push_back(*shown);
  }
  for (Finding& finding : report.findings) finding.replay = task.command;
  report.notes = compare(trials, task.hash);
  if (task.file && !task.file->id.empty() && task.file->stretches.empty() &&
      std::ranges::find(report.findings, task.file->id, &Finding::id) == report.findings.end()) {
    report.notes.push_back("what the schedule was saved for does not show: " + task.file->shows);
  }
  if (task.file && !task.file->stretches.empty()) {
    report.notes.push_back(
        task.missed.empty()
            ? "the program went the way of the model"
            : fmt::format("the program went another way than the model: '{}' did not come about",
                          task.missed));
  }
  for (const std::string& problem : found.name_problems()) report.notes.push_back(problem);
  return report;
}

// Makes the schedule of a seed one of choices: only then are call chains taken down. If it does not
// come out the same every time, the seed is all there is.
Result<void> make_choices(campaign::Runner& runner, Task& task) {
  task.order.keep_choices = true;
  const auto trial = runner.run(task.order);
  if (!trial) return std::unexpected(trial.error());
  if (task.file) {
    const auto& stretches = task.file->stretches;
    task.followed = !trial->is(schedule::kDiverged) && trial->followed >= stretches.size();
    std::uint64_t missed = stretches.size();
    if (trial->is(schedule::kDiverged)) missed = trial->diverged_at;
    // What ends otherwise may end in the middle of the last.
    else if (trial->end == campaign::End::kExited)
      missed = trial->followed;
    if (missed < stretches.size()) task.missed = campaign::to_text(stretches[missed]);
  }
  if (!trial->started || !trial->is_repeatable() || trial->is(schedule::kChoicesLost)) return {};
  task.order.settings.strategy = schedule::Strategy::kReplay;
  task.order.choices = trial->choices;
  task.hash = trial->hash;
  task.order.stretches.clear();
  return {};
}

int replay(const ReplayOptions& options) {
  auto task = task_of(options);
  if (!task) return refuse(task.error());
  const auto runtime = campaign::find_runtime();
  if (!runtime) return refuse(runtime.error());
  auto program = campaign::Program::find(task->words, *runtime);
  if (!program) return refuse(program.error());
  const FunctionTable functions(program->path());
  program->know_functions(functions.path());
  auto file = report_file(options.report);
  if (!file) return refuse(file.error());

  const auto start = std::chrono::steady_clock::now();
  call_on_death(campaign::kill_everything);
  stop_on_interrupt("ending the trial");
  campaign::Runner::Options running = {.timeout = options.schedule.time(), .stop = interrupted};
  // How it ends by itself, out of sight: some exit status may be its usual one.
  const auto native = campaign::run_natively(*program, running, options.schedule.timeout.empty());
  if (!native) return refuse(native.error());
  auto runner = campaign::Runner::make(*program, running);
  if (!runner) return refuse(runner.error());
  if (!task->file) {
    const auto plan = campaign::make_plan(*runner, options.schedule.settings());
    if (!plan) return refuse(plan.error());
    task->order = plan->order(options.seed.value_or(0));
  }
  const std::optional<campaign::ScheduleFile>& saved = task->file;
  if (saved && !saved->stretches.empty()) {
    auto order = campaign::follow(*saved, program->path());
    if (!order) return refuse(order.error());
    task->order = std::move(*order);
  }
  if (options.debug) {
    functions.survive_exec();
    return refuse(debug(*program, task->order));
  }
  if (!task->file || task->order.settings.strategy == schedule::Strategy::kFollow) {
    if (const auto made = make_choices(*runner, *task); !made) return refuse(made.error());
  }
  running.output =
      options.times == 1 ? campaign::Runner::Output::kShown : campaign::Runner::Output::kKept;
  auto shown = campaign::Runner::make(*program, running);
  if (!shown) return refuse(shown.error());
  std::vector<campaign::Trial> trials;
  while (trials.size() < options.times && !interrupted()) {
    auto trial = shown->run(task->order);
    if (!trial) return refuse(trial.error());
    trials.push_back(std::move(*trial));
  }
  if (interrupted()) die_of_interrupt();
  if (const auto error = campaign::why_not_controlled(*program, trials.front())) {
    return refuse(*error);
  }

  campaign::Found found;
  found.expect(*native);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const Report report = report_on(*task, found, trials, seconds.count());
  if (const auto done = show(report, options.report, *file, STDERR_FILENO); !done) {
    return refuse(done.error());
  }
  return report.findings.empty() ? trials.back().exit_status : options.report.exit_code;
}

}  // namespace

std::function<int()> declare_replay(CLI::App& app) {
  auto options = std::make_shared<ReplayOptions>();
  app.description(kReplayDescription);
  app.footer(kReplayExamples);
  app.add_option("FILE", options->file, "A saved schedule; or --seed and a program");
  app.add_option("PROG", options->program, "Behind --: the program and its arguments");
  app.add_option("--seed", options->seed, "Of the trial")
      ->type_name("S")
      ->default_str("")
      ->check(whole_number(0, std::numeric_limits<std::uint64_t>::max()));
  declare_schedule(options->schedule, app);
  app.add_option("--times", options->times,
                 "Replay it so often, without its output, and say\nwhether it took the same course")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000));
  app.add_flag("--debug", options->debug, "Run it under gdb");
  declare_report(options->report, app, "standard error");
  return [options] { return replay(*options); };
}

}  // namespace tomos
