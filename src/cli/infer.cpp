#include "infer/infer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/errors.h"
#include "cli/front_end.h"
#include "cli/infer_annotate.h"
#include "cli/judge.h"
#include "cli/judge_options.h"
#include "cli/output.h"
#include "cli/sources.h"
#include "core/parser.h"
#include "core/printer.h"
#include "core/program.h"
#include "infer/ghosts.h"
#include "report/report.h"

namespace tomos {

namespace {

constexpr const char* kInferDescription =
    "Infer the guards and atomicities of source code\n\n"
    "Reads C and C++ sources, or a program in the core language of docs/aj2.md, finds the lock\n"
    "that guards each field\n"
    "and what each method is for a caller: const, a mover, atomic, compound or an error, perhaps\n"
    "depending on the locks that are held. Whatever is not atomic is shown with the steps that\n"
    "another thread can come between.\n\n"
    "Exit status: 0 nothing found, 66 findings, 2 bad usage or input, 70 a bug in Tomos.\n";

constexpr const char* kInferExamples =
    "Examples:\n"
    "  tomos infer account.cpp -- -std=c++20     a C++ source, with its compiler's flags\n"
    "  tomos infer -p build                      a whole project with a compile_commands.json\n"
    "  tomos infer examples/aj2/list.aj2         one of its methods is not atomic\n"
    "  tomos infer --format json list.aj2        all that was inferred, for scripts\n"
    "  tomos infer --annotate -p build | git apply    write it into the sources, for Clang";

struct InferOptions {
  SourceOptions sources;
  unsigned jobs = 2;
  bool core = false;
  bool no_cache = false;
  bool annotate = false;
  bool in_place = false;
  JudgeOptions report;
};

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Result<core::Program> read_core(const std::vector<std::string>& files) {
  core::Program program;
  for (const std::string& file : files) {
    const auto text = read_text(file, "Name a file in the core language (docs/aj2.md).");
    if (!text) return std::unexpected(text.error());
    auto parsed = core::parse(*text, file, std::move(program));
    if (!parsed) return std::unexpected(parsed.error());
    program = std::move(*parsed);
  }
  return program;
}

// Where the user keeps such things; empty if there is no such place.
std::string cache_folder() {
  for (const auto& [variable, below] : {std::pair("XDG_CACHE_HOME", ""), {"HOME", "/.cache"}}) {
    const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody sets any
    if (value != nullptr && *value == '/') return std::string(value) + below + "/tomos/infer";
  }
  return {};
}

// On a terminal: how far it has come. The line is taken away at the end.
std::function<void(std::size_t, std::size_t)> show_progress(std::string_view what) {
  if (::isatty(STDERR_FILENO) == 0) return {};
  return [what](std::size_t done, std::size_t all) {
    fmt::print(stderr, "\r{} {}/{} units", what, done, all);
    if (done == all) fmt::print(stderr, "\r\033[K");
    (void)std::fflush(stderr);
  };
}

cpp::Options source_options(const InferOptions& options, std::string_view what) {
  return {.build = options.sources.build,
          .files = options.sources.files,
          .flags = options.sources.flags,
          .jobs = options.jobs,
          .cache = options.no_cache ? "" : cache_folder(),
          .progress = show_progress(what)};
}

struct ReadProgram {
  core::Program program;
  std::vector<core::AnnotationMacros> macros;
  std::set<std::string> left_out;  // units that do not compile
};

Result<ReadProgram> read_units(const InferOptions& options, std::vector<std::string>& notes) {
  auto sources = tomos::read_cpp(source_options(options, "reading"));
  if (!sources) return std::unexpected(sources.error());
  ReadProgram made;
  for (const cpp::LeftOut& unit : sources->left_out) made.left_out.insert(unit.file);
  const auto some = note_left_out(options.sources, sources->left_out, sources->units, notes);
  if (!some) return std::unexpected(some.error());
  if (!sources->unknown_calls.empty()) {
    notes.push_back(fmt::format("calls of functions without source may do anything: {}",
                                fmt::join(sources->unknown_calls, ", ")));
  }
  made.program = std::move(sources->program);
  made.macros = std::move(sources->macros);
  return made;
}

// All files are one program.
Result<ReadProgram> read_sources(const InferOptions& options, std::vector<std::string>& notes) {
  const auto is_core = [](const std::string& file) { return file.ends_with(".aj2"); };
  const auto count = std::ranges::count_if(options.sources.files, is_core);
  if (count == 0) return read_units(options, notes);
  if (static_cast<std::size_t>(count) == options.sources.files.size()) {
    auto program = read_core(options.sources.files);
    if (!program) return std::unexpected(program.error());
    return ReadProgram{.program = std::move(*program), .macros = {}, .left_out = {}};
  }
  return std::unexpected(Error{.where = *std::ranges::find_if_not(options.sources.files, is_core),
                               .what = "stands beside files of the core language",
                               .remedy = "Name only .aj2 files, or only C and C++ sources."});
}

const std::string& shown_name(const std::string& display, const std::string& name) {
  return display.empty() ? name : display;
}

Location location_of(const core::Program& program, const core::Position& position) {
  if (position.file >= program.files.size()) return {};
  return {.file = program.files[position.file], .line = position.line, .column = position.column};
}

std::string_view access_of(core::Guard::Kind kind) {
  using enum core::Guard::Kind;
  switch (kind) {
    case kFinal:
      return "final";
    case kGuardedBy:
      return "guarded_by";
    case kWriteGuardedBy:
      return "write_guarded_by";
    case kAtomic:
      return "atomic";
    case kUnset:
    case kNoGuard:
      break;
  }
  return "none";
}

// A lock of whoever owns the object. In sources nobody wrote it down, and no annotation says it: it
// is no guard or requirement like the others.
bool is_of_owner(const core::Program& program, core::LockId lock, bool is_core) {
  return !is_core && program.locks[lock].kind == core::Lock::Kind::kGhost;
}

std::string_view elsewhere_of(core::Guard::Said said) {
  using enum core::Guard::Said;
  switch (said) {
    case kHere:
      break;
    case kByHolder:
      return "where_held";
    case kInMethod:
      return "in_method";
    case kUnsayable:
      return "without_attributes";
  }
  return {};
}

// Those of the class that a field leads to.
std::vector<std::pair<std::string, std::string>> ghosts_of(const core::Program& program,
                                                           const core::Type& type) {
  std::vector<std::pair<std::string, std::string>> made;
  const auto of = std::ranges::find(program.classes, type.name, &core::Class::name);
  if (of == program.classes.end()) return made;
  for (std::size_t i = 0; i < of->ghosts.size() && i < type.locks.size(); ++i) {
    made.emplace_back(of->ghosts[i], program.locks.to_string(type.locks[i]));
  }
  return made;
}

void add_guards(Inferred& into, const core::Program& program, const std::string& owner,
                const std::vector<core::Field>& fields, bool is_core) {
  using enum core::Guard::Kind;
  for (const core::Field& field : fields) {
    const core::Guard& guard = field.guard;
    const bool by_lock = guard.kind == kGuardedBy || guard.kind == kWriteGuardedBy;
    const bool of_owner = by_lock && is_of_owner(program, guard.lock, is_core);
    Inferred::Guard made = {
        .owner = owner,
        .field = shown_name(field.display, field.name),
        .access = of_owner ? "guarded_by_owner" : std::string(access_of(guard.kind)),
        .lock = by_lock ? program.locks.to_string(guard.lock) : "",
        .elsewhere = {},
        .lock_elsewhere = {},
        .given = field.is_given,
        .ghosts = ghosts_of(program, field.type),
        .location = location_of(program, field.position)};
    if (!is_core && !of_owner && guard.said != core::Guard::Said::kHere) {
      made.elsewhere = elsewhere_of(guard.said);
      made.lock_elsewhere = std::exchange(made.lock, {});
      made.access = access_of(core::Guard::Kind::kNoGuard);
    }
    into.guards.push_back(std::move(made));
  }
}

void add_to(Inferred::Count& into, infer::Basic basic) {
  ++into.total;
  if (basic <= infer::Basic::kAtomic) ++into.atomic;
}

// What stands in no file is made up: calls of what has no source, waits with unknown locks.
bool is_of_source(unsigned line) { return line != 0; }

// Without atomicities: what they require.
void add_methods(Inferred& into, const core::Program& program,
                 const std::vector<core::Method>& methods) {
  for (const core::Method& method : methods) {
    if (!is_of_source(method.position.line)) continue;
    Inferred::Method made = {.name = shown_name(method.display, method.name),
                             .atomicity = "unknown",
                             .required = {},
                             .of_owner = {},
                             .unsaid = {},
                             .given = method.is_given && !method.requires_held.empty(),
                             .location = location_of(program, method.position)};
    for (const core::LockId lock : method.requires_held) {
      const bool unsaid = std::ranges::find(method.unsaid, lock) != method.unsaid.end();
      (unsaid ? made.unsaid : made.required).push_back(program.locks.to_string(lock));
    }
    into.methods.push_back(std::move(made));
  }
}

// The names of ghost parameters.
std::set<std::string> ghost_names(const core::Program& program) {
  std::set<std::string> names;
  const auto add = [&](const core::Method& of) {
    names.insert(of.ghosts.begin(), of.ghosts.end());
  };
  for (const core::Class& of : program.classes) {
    names.insert(of.ghosts.begin(), of.ghosts.end());
    std::ranges::for_each(of.methods, add);
  }
  std::ranges::for_each(program.functions, add);
  return names;
}

Inferred inferred_of(const core::Program& program, const infer::Inference& inference,
                     bool is_core) {
  Inferred made;
  const std::set<std::string> of_owners = is_core ? std::set<std::string>{} : ghost_names(program);
  for (const core::Class& of : program.classes) {
    add_guards(made, program, shown_name(of.display, of.name), of.fields, is_core);
  }
  add_guards(made, program, "", program.globals, is_core);
  if (inference.methods.empty()) {
    for (const core::Class& of : program.classes) add_methods(made, program, of.methods);
    add_methods(made, program, program.functions);
  }
  for (const infer::MethodAtomicity& method : inference.methods) {
    if (!is_of_source(method.location.line)) continue;
    made.methods.push_back({.name = method.name,
                            .atomicity = method.atomicity,
                            .required = {},
                            .of_owner = {},
                            .unsaid = {},
                            .given = method.is_given,
                            .location = method.location});
    auto& to = made.methods.back();
    for (const std::string& lock : method.needed) {
      (of_owners.contains(lock) ? to.of_owner : to.required).push_back(lock);
    }
    for (const std::string& lock : method.unsaid) {
      (is_core ? to.required : to.unsaid).push_back(lock);
    }
    if (method.has_body) add_to(made.method_count, method.basic);
  }
  for (const infer::BlockAtomicity& block : inference.blocks) {
    add_to(made.section_count, block.basic);
  }
  return made;
}

int run(const InferOptions& options) {
  const auto start = Clock::now();
  auto file = report_file(options.report);
  if (!file) return refuse(file.error());
  if (const auto named = check_named(options.sources, "infer"); !named) {
    return refuse(named.error());
  }
  const bool is_core =
      !options.sources.files.empty() && options.sources.files.front().ends_with(".aj2");
  if (options.annotate && (is_core || options.report.format != "text")) {
    return refuse({.where = "infer",
                   .what = is_core ? "--annotate is for C and C++ sources"
                                   : "--annotate writes a patch, and no report",
                   .remedy = "Leave out --annotate, or the other."});
  }
  Report report;
  auto read = read_sources(options, report.notes);
  if (!read) return refuse(read.error());
  core::Program* const program = &read->program;
  if (options.core) return print(core::to_text(*program));
  const annotate::Given given = annotate::given_by(*program);
  const double reading = seconds_since(start);

  const auto first_phase = Clock::now();
  const auto guards = infer::infer_guards_and_ghosts(
      *program, is_core ? infer::Nulls::kNone : infer::Nulls::kUnknown);
  if (!guards) return refuse(guards.error());
  const double guarding = seconds_since(first_phase);

  const auto second_phase = Clock::now();
  // What C++ becomes in the core language is our own doing, and the rest is worth having.
  auto inference = infer::infer_atomicities(
      *program, is_core ? infer::Senseless::kRefused : infer::Senseless::kUnknown);
  const bool complete = inference.has_value();
  if (complete && !inference->left_out.empty()) {
    report.notes.push_back(fmt::format("not understood, so may do anything: {}",
                                       fmt::join(inference->left_out, ", ")));
  }
  if (!complete) {
    if (is_core) return refuse(inference.error());
    report.notes.push_back(fmt::format("atomicities could not be inferred: {}: {}",
                                       inference.error().where, inference.error().what));
    inference = infer::Inference{};
  }
  infer::leave_out_told(inference->findings, guards->findings);

  if (options.annotate) {
    std::vector<Finding> findings = guards->findings;
    std::ranges::copy(inference->findings, std::back_inserter(findings));
    const auto written =
        write_annotations({.sources = source_options(options, "checking"),
                           .in_place = options.in_place,
                           .quiet = options.report.quiet,
                           .left_out = std::move(read->left_out)},
                          *file, *program, given, *inference, std::move(read->macros), findings);
    if (!written) return refuse(written.error());
    return findings.empty() ? kNothingFound : options.report.exit_code;
  }

  report.tool = "infer";
  report.inputs = options.sources.files;
  report.inferred = inferred_of(*program, *inference, is_core);
  report.inferred->phases = {
      {"reading", reading}, {"guards", guarding}, {"atomicities", seconds_since(second_phase)}};
  report.findings = guards->findings;
  for (Finding& finding : inference->findings) report.findings.push_back(std::move(finding));
  report.findings = merge_equal(std::move(report.findings));
  report.verdicts.push_back({.analysis = "infer",
                             .verdict = !report.findings.empty() ? Verdict::kViolation
                                        : complete               ? Verdict::kOk
                                                                 : Verdict::kUnknown});
  if (!guards->entered_again.empty()) {
    report.notes.push_back(
        fmt::format("acquired by those who hold it already, so taken for a lock that one may "
                    "acquire again: {}",
                    fmt::join(guards->entered_again, ", ")));
  }
  if (!guards->complete) {
    report.notes.emplace_back(
        "the search for guards was cut short: these are the best found so far, others may fit "
        "more accesses");
  }
  report.stats.seconds = seconds_since(start);
  report.stats.peak_rss = peak_memory();
  if (const auto written = show(report, options.report, *file, STDOUT_FILENO); !written) {
    return refuse(written.error());
  }
  return report.findings.empty() ? kNothingFound : options.report.exit_code;
}

}  // namespace

std::function<int()> declare_infer(CLI::App& app) {
  auto options = std::make_shared<InferOptions>();
  app.description(kInferDescription);
  app.footer(kInferExamples);
  declare_sources(options->sources, app);
  app.add_option("-j,--jobs", options->jobs, "Translation units at a time")
      ->type_name("N")
      ->check(CLI::Range(1U, 64U));
  app.add_flag("--no-cache", options->no_cache, "Parse everything, and keep nothing for later");
  app.add_flag("--core", options->core, "Print the program in the core language and stop");
  auto* const annotate =
      app.add_flag("--annotate", options->annotate,
                   "Write a patch with Clang's thread-safety annotations, no report");
  app.add_flag("--in-place", options->in_place, "With --annotate: change the files themselves")
      ->needs(annotate);
  declare_report(options->report, app, "standard output");
  return [options] {
    take_flags(options->sources);
    return run(*options);
  };
}

}  // namespace tomos
