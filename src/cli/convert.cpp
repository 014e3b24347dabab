#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "cli/command.h"
#include "cli/copy.h"
#include "cli/errors.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/recorded_process.h"
#include "report/layout.h"
#include "trace/open.h"
#include "trace/validate.h"
#include "trace/writer.h"

namespace tomos {

namespace {

constexpr const char* kConvertDescription =
    "Turn a trace into the other format\n\n"
    "The format of IN is told by its content (it may also be a raw recording), that of OUT by its\n"
    "name (.tomos or .std) or by --to.\n"
    "OUT appears complete or not at all. If IN is damaged, OUT gets what stands before the damage\n"
    "and the exit status is 2.\n";

constexpr const char* kConvertExamples =
    "Examples:\n"
    "  tomos convert run.tomos run.std           to text\n"
    "  tomos convert run.std run.tomos           to binary\n"
    "  tomos convert --to std run.tomos - | less";

struct ConvertOptions {
  std::string in;
  std::string out;
  std::string to;
  bool lenient = false;
  bool quiet = false;
};

Result<Format> output_format(const ConvertOptions& options) {
  if (options.to == "std") return Format::kStd;
  if (options.to == "tomos") return Format::kTomos;
  if (const auto format = format_of(options.out)) return *format;
  return std::unexpected(
      Error{.where = options.out == "-" ? "standard output" : options.out,
            .what = "the name does not say which format to write",
            .remedy = "Let it end in .tomos or .std, or add --to tomos or --to std."});
}

std::string output_name(const ConvertOptions& options) {
  return options.out == "-" ? "standard output" : options.out;
}

// The writer knows only the temporary name.
int fail_writing(const ConvertOptions& options, Error error) {
  error.where = output_name(options);
  return refuse(error);
}

// What the reading met on the way, and the exit status it leads to.
int judge(const ConvertOptions& options, const Copied& copied, const Skipped& skipped) {
  if (skipped.total > 0) {
    print_warning({.where = input_name(options.in),
                   .what = fmt::format("{} skipped", counted(skipped.total, "invalid event")),
                   .remedy = "The first: " + skipped.first});
  }
  if (!copied.damage) return kNothingFound;
  (options.lenient ? print_warning : print_error)(*copied.damage);
  print_warning({.where = output_name(options),
                 .what = fmt::format("holds only what stands before the error ({})",
                                     counted(copied.events, "event")),
                 .remedy = ""});
  return options.lenient ? kNothingFound : kBadInput;
}

// `process` is where the events of a raw recording come from.
Result<std::unique_ptr<Source>> open(const std::string& path,
                                     std::optional<RecordedProcess>& process) {
  if (!is_recording(path)) return open_trace(path);
  auto opened = RecordedProcess::open(path, "");
  if (!opened) return std::unexpected(std::move(opened.error()));
  process.emplace(std::move(*opened));
  return process->events();
}

int run(const ConvertOptions& options) {
  const auto format = output_format(options);
  if (!format) return refuse(format.error());
  std::optional<RecordedProcess> process;
  auto trace = open(options.in, process);
  if (!trace) return refuse(trace.error());
  Validated source(std::move(*trace), input_name(options.in),
                   options.lenient ? Validation::kLenient : Validation::kStrict);

  std::optional<NewFile> file;
  if (options.out != "-") {
    auto made = NewFile::at(options.out);
    if (!made) return refuse(made.error());
    file.emplace(std::move(*made));
  }
  auto writer = create_trace(file ? file->path() : "-", *format);
  if (!writer) return fail_writing(options, writer.error());
  const auto copied = copy(source, **writer, input_name(options.in), options.quiet);
  if (!copied) return fail_writing(options, copied.error());
  if (const auto& damage = copied->damage; damage && copied->events == 0) return refuse(*damage);
  if (file) {
    if (const auto moved = file->commit(); !moved) return refuse(moved.error());
  }
  if (const std::string missing = process ? process->missing() : ""; !missing.empty()) {
    print_warning({.where = output_name(options), .what = missing, .remedy = ""});
  }
  return judge(options, *copied, source.skipped());
}

}  // namespace

std::function<int()> declare_convert(CLI::App& app) {
  app.description(kConvertDescription);
  app.footer(kConvertExamples);
  auto options = std::make_shared<ConvertOptions>();
  app.add_option("IN", options->in, "The trace to read; - is standard input")->required();
  app.add_option("OUT", options->out, "The trace to write; - is standard output, with --to")
      ->required();
  app.add_option("--to", options->to, "Format of OUT, whatever its name")
      ->type_name("")
      ->check(one_of({"std", "tomos"}));
  app.add_flag("--lenient", options->lenient, "Warn about damage and invalid events and go on");
  app.add_flag("--quiet", options->quiet, "No progress");
  return [options] { return run(*options); };
}

}  // namespace tomos
