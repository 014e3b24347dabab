#include <unistd.h>

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "campaign/campaign.h"
#include "campaign/corpus.h"
#include "campaign/program.h"
#include "campaign/runner.h"
#include "cli/command.h"
#include "cli/errors.h"
#include "cli/fuzz_status.h"
#include "cli/interrupt.h"
#include "cli/judge.h"
#include "cli/judge_options.h"
#include "cli/launch.h"
#include "cli/launch_functions.h"
#include "cli/options.h"
#include "cli/schedule_options.h"

namespace tomos {

namespace {

constexpr const char* kFuzzDescription =
    "Run a program under many schedules and report what they make go wrong\n\n"
    "Any dynamically linked program will do. In each trial one thread runs at a time, and who "
    "goes\n"
    "on is decided at every synchronisation operation (in programs built with tomos-c++ also at\n"
    "memory accesses), in a way that the trial's seed determines. What is reported has happened, "
    "and\n"
    "'tomos replay' makes it happen again.\n\n"
    "Exit status: 0 nothing found, 66 findings, 2 the program could not be run, 70 a bug in "
    "Tomos.\n";

constexpr const char* kFuzzExamples =
    "Examples:\n"
    "  tomos fuzz -- ./server --selftest         100 trials\n"
    "  tomos fuzz --time 10m --corpus found -- ./server --selftest\n"
    "                                            all of ten minutes; keeps schedules, and goes on\n"
    "                                            there the next time\n"
    "  tomos fuzz --strategy pct --depth 2 --trials 1000 -- ./queue_test";

constexpr std::uint64_t kDefaultTrials = 100;

struct FuzzOptions {
  std::vector<std::string> program;  // as the option parser gives it: see launch.h
  ScheduleOptions schedule;
  std::optional<std::uint64_t> trials;
  std::string time;
  unsigned jobs = 1;
  std::uint64_t seed = 1;
  bool seed_given = false;
  std::string corpus;
  bool stop_at_first = false;
  bool keep_going = false;  // what is done anyway, said aloud
  bool show_warnings = false;
  JudgeOptions report;
};

campaign::Options for_campaign(const FuzzOptions& options, const std::vector<std::string>& words) {
  campaign::Options result;
  result.settings = options.schedule.settings();
  result.seed = options.seed;
  result.trials = options.trials;
  if (!options.time.empty()) result.time = to_duration(options.time);
  if (!result.trials && !result.time) result.trials = kDefaultTrials;
  result.stop_at_first = options.stop_at_first;
  result.show_warnings = options.show_warnings;
  result.timeout_given = !options.schedule.timeout.empty();
  result.runner = {.jobs = options.jobs, .timeout = options.schedule.time(), .stop = interrupted};
  result.replay = [&schedule = options.schedule, &words](std::uint64_t seed,
                                                         const std::string& file) {
    return file.empty() ? replay_command(schedule, seed, words) : "tomos replay " + quoted(file);
  };
  return result;
}

int fuzz(const FuzzOptions& options) {
  const auto words = program_words(options.program, "fuzz");
  if (!words) return refuse(words.error());
  const auto runtime = campaign::find_runtime();
  if (!runtime) return refuse(runtime.error());
  auto program = campaign::Program::find(*words, *runtime);
  if (!program) return refuse(program.error());
  const FunctionTable functions(program->path());
  program->know_functions(functions.path());
  campaign::Options wanted = for_campaign(options, *words);
  std::optional<campaign::Corpus> corpus;
  if (!options.corpus.empty()) {
    auto opened = campaign::Corpus::open(options.corpus, *words, wanted.settings);
    if (!opened) return refuse(opened.error());
    corpus.emplace(std::move(*opened));
    if (!options.seed_given && corpus->next_seed() > 0) wanted.seed = corpus->next_seed();
  }
  auto file = report_file(options.report);
  if (!file) return refuse(file.error());

  call_on_death(campaign::kill_everything);
  stop_on_interrupt("reporting on the trials so far");
  Result<Report> report;
  {
    FuzzStatus status({.program = words->front(), .trials = wanted.trials, .time = wanted.time},
                      options.report.quiet);
    campaign::Campaign campaign(*program, wanted, corpus ? &*corpus : nullptr,
                                [&](const campaign::Status& now) { status.show(now); });
    report = campaign.run();
  }
  if (!report) return refuse(report.error());
  if (interrupted()) report->notes.emplace_back("interrupted: not all trials were run");
  if (const auto shown = show(*report, options.report, *file, STDOUT_FILENO); !shown) {
    return refuse(shown.error());
  }
  return report->findings.empty() ? kNothingFound : options.report.exit_code;
}

}  // namespace

std::function<int()> declare_fuzz(CLI::App& app) {
  auto options = std::make_shared<FuzzOptions>();
  options->jobs = processors();
  app.description(kFuzzDescription);
  app.footer(kFuzzExamples);
  app.add_option("PROG", options->program, "Behind --: the program and its arguments")->required();
  app.add_option("--trials", options->trials, "How many trials (default: 100, or any with --time)")
      ->type_name("N")
      ->default_str("")
      ->check(whole_number(1, std::numeric_limits<std::uint64_t>::max()));
  app.add_option("--time", options->time, "For how long: 30s, 10m, 2h")
      ->type_name("TIME")
      ->check(duration());
  app.add_option("-j,--jobs", options->jobs, "How many trials at a time")
      ->type_name("N")
      ->check(whole_number(1, 1024));
  app.add_option("--seed", options->seed, "Of the first trial; each further one has the next")
      ->type_name("S")
      ->check(whole_number(0, std::numeric_limits<std::uint64_t>::max()));
  declare_schedule(options->schedule, app);
  app.add_option("--corpus", options->corpus,
                 "Keep findings and their schedules in this folder,\nand go on from what is there")
      ->type_name("DIR");
  app.add_flag("--stop-at-first", options->stop_at_first, "Stop when something is found")
      ->excludes(app.add_flag("--keep-going", options->keep_going,
                              "Run all trials, whatever is found: the default"));
  app.add_flag("--show-warnings", options->show_warnings,
               "Say how often a violation seemed possible");
  declare_report(options->report, app, "standard output");
  return [options, &app] {
    options->seed_given = app.get_option("--seed")->count() > 0;
    return fuzz(*options);
  };
}

}  // namespace tomos
