#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/errors.h"
#include "cli/front_end.h"
#include "cli/judge.h"
#include "cli/judge_options.h"
#include "cli/output.h"
#include "cli/sources.h"
#include "report/report.h"
#include "tm/anomalies.h"
#include "tm/findings.h"
#include "tm/methods.h"
#include "tm/patterns.h"
#include "tm/traces.h"

namespace tomos {

namespace {

constexpr const char* kTmDescription =
    "Find transactions that should be one\n\n"
    "Reads C and C++ sources with transactions: __transaction_atomic and the like, the blocks of\n"
    "the TM TS, or those of a library. Reports two or more transactions of a thread that another\n"
    "thread's transaction can come between with bad results, and data that is used both in\n"
    "transactions and, at the same time, outside.\n\n"
    "Exit status: 0 nothing found, 66 findings, 2 bad usage or input, 70 a bug in Tomos.\n";

constexpr const char* kTmExamples =
    "Examples:\n"
    "  tomos tm bank.cpp -- -std=c++20           a C++ source, with its compiler's flags\n"
    "  tomos tm -p build                         a whole project with a compile_commands.json\n"
    "  tomos tm --macros TM_BEGIN:TM_END list.c  transactions of a library\n"
    "  tomos tm --sections server.cpp            the same for critical sections of locks\n"
    "  tomos tm --template lib.xml bank.cpp      describe functions whose source is not there";

struct TmCommandOptions {
  SourceOptions sources;
  std::vector<std::string> macros;
  std::vector<std::string> calls;
  std::vector<std::string> scopes;
  std::vector<std::string> lambdas;
  std::vector<std::string> entries;
  std::string methods;
  std::string template_file;
  std::string patterns = "full";
  bool sections = false;
  std::uint64_t effort = 1;
  JudgeOptions report;
};

constexpr const char* kNameAFile = "Name a file that is there.";

// "BEGIN:END"
Result<std::vector<std::pair<std::string, std::string>>> pairs_of(
    const std::string& option, const std::vector<std::string>& words) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& word : words) {
    // Qualified names have colons of their own.
    std::size_t colon = std::string::npos;
    for (std::size_t i = 0; i < word.size(); ++i) {
      const bool doubled =
          (i + 1 < word.size() && word[i + 1] == ':') || (i > 0 && word[i - 1] == ':');
      if (word[i] == ':' && !doubled) colon = i;
    }
    if (colon == std::string::npos || colon == 0 || colon + 1 == word.size()) {
      return std::unexpected(
          Error{.where = fmt::format("{} {}", option, word),
                .what = "does not name what begins a transaction and what ends it",
                .remedy = fmt::format("Write {} BEGIN:END.", option)});
    }
    pairs.emplace_back(word.substr(0, colon), word.substr(colon + 1));
  }
  return pairs;
}

Result<cpp::TmSources> read_program(const TmCommandOptions& options,
                                    std::vector<std::string>& notes) {
  auto macros = pairs_of("--macros", options.macros);
  if (!macros) return std::unexpected(macros.error());
  auto calls = pairs_of("--calls", options.calls);
  if (!calls) return std::unexpected(calls.error());
  auto sources = read_tm({.sources = {.build = options.sources.build,
                                      .files = options.sources.files,
                                      .flags = options.sources.flags},
                          .macros = std::move(*macros),
                          .calls = std::move(*calls),
                          .scopes = options.scopes,
                          .lambdas = options.lambdas});
  if (!sources) return sources;
  const auto some = note_left_out(options.sources, sources->left_out, sources->units, notes);
  if (!some) return std::unexpected(some.error());
  return sources;
}

Result<std::vector<tm::Pattern>> patterns_for(const std::string& option) {
  if (option == "full") return {};
  if (option == "base") return tm::base_patterns();
  const auto text = read_text(option, kNameAFile);
  if (!text) return std::unexpected(text.error());
  return tm::parse_patterns(*text, option);
}

Result<tm::TraceOptions> trace_options(const TmCommandOptions& options) {
  tm::TraceOptions made;
  made.sections = options.sections;
  made.escape = options.patterns == "full";
  made.entries = options.entries;
  made.effort = options.effort;
  if (!options.methods.empty()) {
    const auto text = read_text(options.methods, kNameAFile);
    if (!text) return std::unexpected(text.error());
    auto methods = tm::parse_methods(*text, options.methods);
    if (!methods) return std::unexpected(methods.error());
    made.methods = std::move(*methods);
  }
  return made;
}

// What was cut short, where, and how to go on.
void add_bounds(const tm::Program& program, const tm::TraceOptions& options,
                const tm::Traces& traces, std::vector<std::string>& notes) {
  constexpr std::size_t kMostNamed = 5;
  const std::string more =
      fmt::format("there may be more findings; --effort {} does twice as much", 2 * options.effort);
  const auto some = [&](std::set<std::string> names) {
    const std::size_t others = names.size() - std::min(names.size(), kMostNamed);
    while (names.size() > kMostNamed) names.erase(std::prev(names.end()));
    return fmt::format("{}{}", fmt::join(names, ", "),
                       others == 0 ? "" : fmt::format(" and {} more", others));
  };
  const tm::Bounded& bounded = traces.bounded;
  if (bounded.steps) {
    notes.push_back(
        fmt::format("the program is too large: calls were followed for {} million steps; {}",
                    tm::kMostSteps * options.effort / 1'000'000, more));
  }
  if (bounded.deep) {
    notes.push_back(
        fmt::format("calls were followed {} deep; {}", tm::kMostCalls * options.effort, more));
  }
  if (!bounded.last.empty()) {
    std::set<std::string> places;
    for (const tm::NodeId id : bounded.last) {
      const tm::Position& at = program[id].position;
      places.insert(at.file < program.files.size()
                        ? fmt::format("{}:{}", program.files[at.file], at.line)
                        : "?");
    }
    notes.push_back(
        fmt::format("of the ways that one transaction can come before another the latest {} were "
                    "taken, at {}; {}",
                    tm::kMostLast * options.effort, some(std::move(places)), more));
  }
  if (!bounded.reads.empty()) {
    std::set<std::string> names;
    for (const tm::LocationId at : bounded.reads) names.insert(traces.name_of(program, at));
    notes.push_back(
        fmt::format("of the reads that one value rests on the latest {} were taken, of {}; {}",
                    tm::kMostReads * options.effort, some(std::move(names)), more));
  }
}

void add_notes(const tm::Program& program, const tm::TraceOptions& options,
               const tm::Traces& traces, bool described, std::vector<std::string>& notes) {
  for (const tm::DescribedMethod& method : options.methods) {
    if (traces.used.contains(method.name)) continue;
    notes.push_back(fmt::format("{}: nothing here calls {}", method.place, method.name));
  }
  for (const std::string& entry : options.entries) {
    const bool known = std::ranges::any_of(program.functions, [&](const tm::Function& function) {
      return function.body != tm::kNoNode && tm::is_called(function, entry);
    });
    if (!known) notes.push_back(fmt::format("--entry {}: there is no such function", entry));
  }
  if (!traces.unknown.empty() && !described) {
    notes.push_back(
        fmt::format("functions without source count as if they did nothing: {}; --template FILE "
                    "writes a description to fill in, --methods FILE reads it",
                    fmt::join(traces.unknown, ", ")));
  }
  if (!traces.recursive.empty()) {
    notes.push_back(fmt::format("functions that call themselves were followed once: {}",
                                fmt::join(traces.recursive, ", ")));
  }
  add_bounds(program, options, traces, notes);
}

// Execution goes as deep as the source is nested, and each `else if` is nested in the one before
// it. The first thread's stack grows as far as it may.
void allow_deep_stack() {
  constexpr rlim_t kDeep = rlim_t{120} << 20;  // the kernel keeps 128 MB free for it
  rlimit limit = {};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kDeep) return;
  limit.rlim_cur = std::min(kDeep, limit.rlim_max);
  (void)::setrlimit(RLIMIT_STACK, &limit);
}

int run(const TmCommandOptions& options) {
  allow_deep_stack();
  const auto start = std::chrono::steady_clock::now();
  auto file = report_file(options.report);
  if (!file) return refuse(file.error());
  if (const auto named = check_named(options.sources, "tm"); !named) return refuse(named.error());
  const auto patterns = patterns_for(options.patterns);
  if (!patterns) return refuse(patterns.error());
  const auto follow = trace_options(options);
  if (!follow) return refuse(follow.error());
  Report report;
  const auto sources = read_program(options, report.notes);
  if (!sources) return refuse(sources.error());
  const tm::Program& program = sources->program;
  const tm::Traces traces = tm::trace(program, *follow);
  if (!options.template_file.empty()) {
    auto made = NewFile::at(options.template_file);
    if (!made) return refuse(made.error());
    if (const auto written = made->write(tm::methods_template(traces.unknown)); !written) {
      return refuse(written.error());
    }
    if (const auto done = made->commit(); !done) return refuse(done.error());
  }
  add_notes(program, *follow, traces, !options.template_file.empty(), report.notes);

  const bool full = options.patterns == "full";
  const auto anomalies =
      full ? tm::find_anomalies(traces) : tm::match_patterns(program, traces, *patterns);
  const std::string section = options.sections ? "critical section" : "transaction";
  for (const tm::Region& region : tm::regions_of(program, traces, anomalies, full)) {
    report.findings.push_back(tm::finding_of(program, traces, region, section));
  }
  // Data that locks should guard is the business of `tomos infer`.
  const auto races = options.sections ? std::vector<tm::Race>() : tm::find_races(traces);
  for (const tm::Race& race : races) {
    report.findings.push_back(tm::finding_of(program, traces, race));
  }
  report.findings = merge_equal(std::move(report.findings));
  report.tool = "tm";
  report.inputs = options.sources.files;
  report.verdicts.push_back({.analysis = "tm",
                             .verdict = !report.findings.empty() ? Verdict::kViolation
                                        : traces.complete        ? Verdict::kOk
                                                                 : Verdict::kUnknown});
  report.stats.threads = traces.threads.size();
  report.stats.transactions = static_cast<std::uint64_t>(std::ranges::count_if(
      traces.transactions, [](const auto& one) { return one.node != tm::kNoNode; }));
  if (report.stats.transactions == 0) {
    report.notes.emplace_back(options.sections
                                  ? "there are no critical sections in it"
                                  : "there are no transactions in it: --macros, --calls, --scopes "
                                    "and --lambdas name those "
                                    "of a library, --sections takes critical sections of locks");
  }
  report.stats.events = traces.accesses.size();
  report.stats.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.stats.peak_rss = peak_memory();
  if (const auto written = show(report, options.report, *file, STDOUT_FILENO); !written) {
    return refuse(written.error());
  }
  return report.findings.empty() ? kNothingFound : options.report.exit_code;
}

}  // namespace

std::function<int()> declare_tm(CLI::App& app) {
  auto options = std::make_shared<TmCommandOptions>();
  app.description(kTmDescription);
  app.footer(kTmExamples);
  declare_sources(options->sources, app);
  app.add_option("--patterns", options->patterns,
                 "What is an anomaly: full, base (the paper's), or a file")
      ->type_name("WHICH");
  app.add_flag("--sections", options->sections, "Take critical sections of locks for transactions");
  app.add_option("--macros", options->macros, "Macros that begin and end a transaction")
      ->type_name("BEGIN:END")
      ->allow_extra_args(false)
      ->default_str("");
  app.add_option("--calls", options->calls, "Functions that begin and end a transaction")
      ->type_name("BEGIN:END")
      ->allow_extra_args(false)
      ->default_str("");
  app.add_option("--scopes", options->scopes,
                 "Classes whose objects are a transaction while they live")
      ->type_name("CLASS")
      ->allow_extra_args(false)
      ->default_str("");
  app.add_option("--lambdas", options->lambdas,
                 "Functions that run what they are given as a transaction")
      ->type_name("FUNCTION")
      ->allow_extra_args(false)
      ->default_str("");
  app.add_option("--entry", options->entries,
                 "Functions that threads run, though nobody is seen to start them")
      ->type_name("FUNCTION")
      ->allow_extra_args(false)
      ->default_str("");
  app.add_option("--methods", options->methods,
                 "Describes functions whose source is not there (XML)")
      ->type_name("FILE");
  app.add_option("--template", options->template_file,
                 "Write a description of the functions without source, to be filled in")
      ->type_name("FILE");
  app.add_option("--effort", options->effort, "Follow N times as many ways, reads and calls")
      ->type_name("N")
      ->check(CLI::Range(1, 1000))
      ->default_str("1");
  declare_report(options->report, app, "standard output");
  return [options] {
    take_flags(options->sources);
    return run(*options);
  };
}

}  // namespace tomos
