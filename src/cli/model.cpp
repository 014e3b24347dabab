#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/copy.h"
#include "cli/errors.h"
#include "cli/interrupt.h"
#include "cli/judge.h"
#include "cli/judge_options.h"
#include "cli/model_driver.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/schedule_options.h"
#include "cli/sources.h"
#include "model/compile.h"
#include "model/judge.h"
#include "model/run.h"
#include "report/layout.h"
#include "trace/open.h"
#include "trace/writer.h"

namespace tomos {

namespace {

constexpr const char* kModelDescription =
    "Model-check a concurrent Boolean program\n\n"
    "Goes through all runs of a program in the language of docs/bp.md and proves that each of\n"
    "them is serializable, that no assertion fails and that there is no deadlock; or shows the\n"
    "shortest run that goes wrong. With --from-cpp the program is made from a C++ test driver:\n"
    "locks, truth values and atomics are kept, other data may have any value.\n\n"
    "Exit status: 0 proved (or unknown, see the report), 66 something goes wrong, 2 bad usage or\n"
    "input, 70 a bug in Tomos.\n";

constexpr const char* kModelExamples =
    "Examples:\n"
    "  tomos model examples/model/account.bp     prove it\n"
    "  tomos model --trace run.std examples/model/account_bad.bp && tomos check run.std\n"
    "                                            the run that goes wrong, as a trace\n"
    "  tomos model --from-cpp account_test.cpp -- -std=c++20\n"
    "                                            all schedules of a test driver\n"
    "  tomos model --memory 8G -j 8 large.bp     unknown if that is not enough";

const std::vector<std::string> kAnalyses = {"serializability", "assertions", "deadlock"};

struct ModelOptions {
  SourceOptions sources;
  bool from_cpp = false;
  std::string write_bp;
  std::string schedule;
  std::string analysis = "serializability,assertions,deadlock";
  unsigned jobs = 1;
  std::string memory;
  std::string time;
  std::string trace;
  bool compact = false;
  bool no_symmetry = false;
  bool no_partial_order = false;
  JudgeOptions report;
};

// "8G", "512M": bytes.
std::optional<std::uint64_t> parse_size(const std::string& text) {
  std::uint64_t value = 0;
  std::size_t at = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    value = 10 * value + static_cast<std::uint64_t>(text[at] - '0');
    if (value > (std::uint64_t{1} << 40U)) return std::nullopt;
  }
  if (at == 0 || text.size() > at + 1) return std::nullopt;
  if (at == text.size()) return value;
  const std::size_t unit = std::string_view("KMG").find(text[at]);
  if (unit == std::string_view::npos) return std::nullopt;
  value <<= 10U * (unit + 1);
  return value > (std::uint64_t{1} << 44U) ? std::nullopt : std::optional(value);
}

CLI::Validator size() {
  return {[](std::string& text) {
            if (parse_size(text)) return std::string();
            return fmt::format("'{}' is no size. Write it as 512M or 8G.", text);
          },
          ""};
}

// Three quarters of what the machine has: enough is left for others.
std::uint64_t usual_memory() {
  const auto pages = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES)));
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 4 * 3;
}

model::SearchOptions for_search(const ModelOptions& options, ProgressLine& line) {
  const std::vector<std::string> wanted = split(options.analysis, ',');
  model::SearchOptions result;
  result.machine = {.serializability = contains(wanted, "serializability"),
                    .assertions = contains(wanted, "assertions"),
                    .deadlock = contains(wanted, "deadlock"),
                    .symmetry = !options.no_symmetry,
                    .partial_order = !options.no_partial_order};
  result.jobs = options.jobs;
  result.memory = options.memory.empty() ? usual_memory() : parse_size(options.memory).value_or(0);
  result.compact = options.compact;
  std::optional<std::chrono::steady_clock::time_point> end;
  if (!options.time.empty()) end = std::chrono::steady_clock::now() + to_duration(options.time);
  result.stop = [end] {
    return interrupted() || (end && std::chrono::steady_clock::now() >= *end);
  };
  result.progress = [&line](const model::SearchOptions::Progress& now) {
    line.work_on(
        fmt::format("{} states, depth {}, {} MB", now.states, now.depth, now.bytes / 1'000'000));
  };
  return result;
}

std::string why_unknown(const model::SearchResult& result) {
  using End = model::SearchResult::End;
  switch (result.end) {
    case End::kMemory:
      return "the memory limit was reached before all states were seen; --memory allows more, "
             "--compact needs less and is no proof";
    case End::kStopped:
      return interrupted() ? "interrupted before all states were seen"
                           : "the time limit was reached before all states were seen";
    case End::kInitial:
      return "there are too many first states to go through; say more in init";
    case End::kAll:
    case End::kFailure:
    case End::kDeepest:
      break;
  }
  return "";
}

void judge(Report& report, const ModelOptions& options, const model::SearchResult& result,
           const std::optional<Finding>& finding, bool assertions_kept) {
  const std::string unknown = why_unknown(result);
  for (const std::string& analysis : kAnalyses) {
    if (!contains(split(options.analysis, ','), analysis)) continue;
    Verdict verdict = Verdict::kOk;
    if (finding) {
      verdict = finding->analysis == analysis ? Verdict::kViolation : Verdict::kUnknown;
    } else if (!unknown.empty() || options.compact ||
               (analysis == "assertions" && !assertions_kept)) {
      verdict = Verdict::kUnknown;
    }
    report.verdicts.push_back({.analysis = analysis, .verdict = verdict});
  }
  if (!unknown.empty()) report.notes.push_back(unknown);
  if (options.compact && !finding && unknown.empty()) {
    report.notes.emplace_back(
        "nothing goes wrong in any state seen, but with --compact two states with one hash count "
        "as one: this is no proof");
  }
  if (finding && report.verdicts.size() > 1) {
    report.notes.emplace_back(
        "the search ends with the first that goes wrong; --analysis says what to look for");
  }
}

Result<void> write_trace(const model::Run& run, const std::string& path) {
  auto file = NewFile::at(path);
  if (!file) return std::unexpected(file.error());
  auto writer = create_trace(file->path(), format_of(path).value_or(Format::kStd));
  if (!writer) return std::unexpected(writer.error());
  if (auto written = (*writer)->write(run.events, run.names); !written) return written;
  if (auto finished = (*writer)->finish(); !finished) return finished;
  return file->commit();
}

void describe(Report& report, const model::Program& program, const model::SearchResult& result) {
  report.explored = {.states = result.states,
                     .steps = result.steps,
                     .depth = result.depth,
                     .state_bytes = result.state_bytes,
                     .bytes = result.bytes};
  report.stats.threads = program.threads.size();
  report.stats.variables = program.variables.size();
  report.stats.locks = program.locks.size();
  report.stats.peak_rss = peak_memory();
}

// Of a C++ driver, or as it is written.
Result<DriverProgram> load_program(const ModelOptions& options, bool counts) {
  if (const auto named = check_named(options.sources, "model"); !named) {
    return std::unexpected(named.error());
  }
  if (options.from_cpp) return load_driver(options.sources, counts);
  const auto& sources = options.sources;
  if (sources.files.size() != 1) {
    return std::unexpected(Error{.where = "model",
                                 .what = "there is more than one program",
                                 .remedy = "Name one at a time."});
  }
  if (!sources.flags.empty() || !sources.build.empty() || !options.write_bp.empty() ||
      !options.schedule.empty()) {
    return std::unexpected(Error{.where = "model",
                                 .what = "this is for C++ sources, and none is named",
                                 .remedy = "Write 'tomos model FILE.bp', or 'tomos model "
                                           "--from-cpp FILE.cpp -- FLAGS'."});
  }
  const std::string& path = sources.files.front();
  const auto text = read_text(path, "Name a file with a Boolean program (docs/bp.md).");
  if (!text) return std::unexpected(text.error());
  auto program = model::load(*text, path);
  if (!program) return std::unexpected(program.error());
  return DriverProgram{.program = std::move(*program), .text = "", .notes = {}};
}

Result<void> write_text(const std::string& path, const std::string& text) {
  auto file = NewFile::at(path);
  if (!file) return std::unexpected(file.error());
  if (auto written = file->write(text); !written) return written;
  return file->commit();
}

Result<void> write_program(const ModelOptions& options, const DriverProgram& loaded) {
  if (options.write_bp.empty()) return {};
  return write_text(options.write_bp, loaded.text);
}

model::Judged search(const ModelOptions& options, const model::Program& program) {
  ProgressLine line(options.sources.files.front(), options.report.quiet);
  return model::judge(program, for_search(options, line));
}

int run(const ModelOptions& options) {
  auto loaded = load_program(options, true);
  if (!loaded) return refuse(loaded.error());
  const std::string& input = options.sources.files.front();
  if (const auto done = write_program(options, *loaded); !done) return refuse(done.error());
  auto file = report_file(options.report);
  if (!file) return refuse(file.error());
  stop_on_interrupt("reporting on the states seen so far");

  const auto start = std::chrono::steady_clock::now();
  model::Judged judged = search(options, loaded->program);
  const bool too_large = judged.result.failure == model::Failure::kRange ||
                         judged.result.end == model::SearchResult::End::kMemory;
  if (loaded->counts && too_large) {
    // Something that is counted does not stay small: then its values are not kept.
    loaded = load_program(options, false);
    if (!loaded) return refuse(loaded.error());
    if (const auto done = write_program(options, *loaded); !done) return refuse(done.error());
    judged = search(options, loaded->program);
  }
  const model::Program& program = loaded->program;
  const model::SearchResult& result = judged.result;

  Report report;
  report.tool = "model";
  report.inputs.push_back(input);
  report.notes = loaded->notes;
  describe(report, program, result);
  std::optional<Finding> finding;
  if (result.end == model::SearchResult::End::kFailure) {
    const model::Run found = model::run_of(program, result);
    finding = model::finding_of(program, result, found);
    if (options.from_cpp && model::leaves_open(program, result)) {
      finding->verdict = Certainty::kPredicted;
      finding->doubt =
          "the run takes ways that depend on data, whose values are not kept: the program may "
          "never go them";
    }
    report.stats.events = found.events.size();
    if (!options.schedule.empty()) {
      const auto schedule = schedule_of(*loaded, result, *finding);
      if (const auto done = write_text(options.schedule, to_text(schedule)); !done) {
        return refuse(done.error());
      }
      report.notes.push_back(
          fmt::format("to see the program do it, compile it with tomos-c++ and run it by "
                      "'tomos replay {} -- ./PROGRAM'",
                      quoted(options.schedule)));
    }
    if (!options.trace.empty()) {
      if (const auto written = write_trace(found, options.trace); !written) {
        return refuse(written.error());
      }
      if (finding->kind == Kind::kAtomicity) {
        finding->replay = "tomos check " + quoted(options.trace);
      }
    }
    report.notes.push_back(fmt::format(
        "the run has {}{}", counted(result.run.size(), "step"),
        judged.shortest ? ": none with fewer goes wrong" : "; there may be one with fewer"));
    report.findings.push_back(*finding);
  }
  judge(report, options, result, finding, loaded->assertions);
  report.stats.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (const auto shown = show(report, options.report, *file, STDOUT_FILENO); !shown) {
    return refuse(shown.error());
  }
  if (interrupted()) die_of_interrupt();
  return finding ? options.report.exit_code : kNothingFound;
}

}  // namespace

std::function<int()> declare_model(CLI::App& app) {
  auto options = std::make_shared<ModelOptions>();
  options->jobs = processors();
  app.description(kModelDescription);
  app.footer(kModelExamples);
  app.add_option("FILE", options->sources.files,
                 "The Boolean program; or the C++ test driver, behind\n-- the compiler's flags")
      ->required();
  app.add_flag("--from-cpp", options->from_cpp, "FILE is a test driver in C++");
  app.add_option("-p", options->sources.build, "Folder of a compile_commands.json that has FILE")
      ->type_name("BUILD");
  app.add_option("--write-bp", options->write_bp,
                 "Write the Boolean program of the driver to this file")
      ->type_name("FILE");
  app.add_option(
         "--schedule", options->schedule,
         "Write the run of the driver that goes wrong to this\nfile, for 'tomos replay FILE -- "
         "PROG'")
      ->type_name("FILE");
  app.add_option("--analysis", options->analysis, "What to look for, separated by commas")
      ->type_name("LIST")
      ->check(list_of(kAnalyses));
  app.add_option("--trace", options->trace,
                 "Write the run that goes wrong to this file,\n.tomos or .std")
      ->type_name("FILE");
  app.add_option("--memory", options->memory,
                 "Memory for states: 512M, 8G (default: three\nquarters of the machine's)")
      ->type_name("SIZE")
      ->check(size());
  app.add_option("--time", options->time, "For how long at most: 30s, 10m, 2h")
      ->type_name("TIME")
      ->check(duration());
  app.add_option("-j,--jobs", options->jobs, "How many threads search")
      ->type_name("N")
      ->check(whole_number(1, 256));
  app.add_flag("--compact", options->compact, "Keep only hashes of states: less memory, no proof");
  app.add_flag("--no-symmetry", options->no_symmetry, "Tell threads apart that do the same");
  app.add_flag("--no-partial-order", options->no_partial_order,
               "Look at all orders of independent steps");
  declare_report(options->report, app, "standard output");
  return [options] {
    take_flags(options->sources);
    return run(*options);
  };
}

}  // namespace tomos
