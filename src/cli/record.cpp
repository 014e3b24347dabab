#include <fmt/format.h>
#include <sys/wait.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/copy.h"
#include "cli/errors.h"
#include "cli/launch.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/project_file.h"
#include "cli/record_program.h"
#include "cli/recorded_process.h"
#include "report/layout.h"

namespace tomos {

namespace {

constexpr const char* kRecordDescription =
    "Run an instrumented program and write a trace of the run\n\n"
    "The program must be built with tomos-c++ or tomos-cc. It runs as if it had been started\n"
    "without tomos. Each further process that it makes gets a trace of its own, with the number "
    "of\n"
    "the process in its name. If the program is killed or the disk fills up, what was recorded "
    "until\n"
    "then is written.\n\n"
    "Exit status: the program's own; 2 if it could not be run or recorded.\n";

constexpr const char* kRecordExamples =
    "Examples:\n"
    "  tomos record -o run.tomos -- ./server --selftest\n"
    "  tomos check --analysis blocks run.tomos   judge it, now or later";

struct Options {
  RecordOptions recording;
  std::string output;
  bool quiet = false;
};

// T.tomos for the program itself, T.412.tomos for the other processes.
std::string output_for(const std::string& output, const std::string& recording) {
  const std::string process = std::filesystem::path(recording).extension().string();
  if (process.empty()) return output;
  const std::filesystem::path path(output);
  return (path.parent_path() / path.stem()).string() + process + path.extension().string();
}

void warn(const std::string& where, const std::string& what) {
  print_warning({.where = where, .what = what, .remedy = ""});
}

Result<void> write_trace(RecordedProcess& process, const RecordingFolder& folder,
                         const std::string& output, Format format, bool quiet) {
  auto file = NewFile::at(output);
  if (!file) return std::unexpected(std::move(file.error()));
  // The writer knows only the temporary name.
  const auto rename = [&](Error error) {
    error.where = output;
    return std::unexpected(std::move(error));
  };
  auto writer = create_trace(file->path(), format);
  if (!writer) return rename(std::move(writer.error()));
  const auto events = process.events();
  const auto copied = copy(*events, **writer, process.name(), quiet);
  if (!copied) return rename(copied.error());
  if (const auto moved = file->commit(); !moved) return moved;
  if (const auto& damage = copied->damage) {
    print_warning(*damage);
    warn(output, fmt::format("holds only what stands before the error ({})",
                             counted(copied->events, "event")));
  }
  if (const std::string missing = process.missing(); !missing.empty()) {
    print_warning({.where = output, .what = missing, .remedy = folder.more_room() + '.'});
  }
  if (!quiet) {
    for (const std::string& note : process.notes()) warn(output, note);
  }
  return {};
}

int run(const Options& options) {
  const auto words = program_words(options.recording.program, "record");
  if (!words) return refuse(words.error());
  const auto project = read_project_file(options.recording.config);
  if (!project) return refuse(project.error());
  const auto format = format_of(options.output);
  if (!format) {
    return refuse({.where = options.output,
                   .what = "the name does not say which format to write",
                   .remedy = "Let it end in .tomos or .std."});
  }
  auto made = RecordingFolder::temporary(options.output + ".recording");
  if (!made) return refuse(made.error());
  // Gone before the end: that may be a death by the program's signal.
  std::optional<RecordingFolder> folder(std::move(*made));
  const auto status = record_program(*words, options.recording, *project, *folder);
  if (!status) return refuse(status.error());

  bool any = false;
  for (const std::string& recording : folder->recordings()) {
    auto process = RecordedProcess::open(recording, words->front());
    if (!process) return refuse(process.error());
    if (!process->is_instrumented()) continue;
    any = true;
    const std::string output = output_for(options.output, recording);
    auto written = write_trace(*process, *folder, output, *format, options.quiet);
    if (!written) {
      // All that there is of the run.
      folder->keep();
      written.error().remedy +=
          fmt::format(" The recording stays: tomos convert {} {} makes the trace.",
                      quoted(recording), quoted(output));
      return refuse(written.error());
    }
    folder->discard(recording);
  }
  folder.reset();
  if (!any) return refuse(not_instrumented(words->front(), *status));
  if (WIFSIGNALED(*status)) {
    warn(options.output,
         fmt::format("the program died of {}; the trace ends there", describe_status(*status)));
  }
  return pass_on(*status);
}

}  // namespace

std::function<int()> declare_record(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.description(kRecordDescription);
  app.footer(kRecordExamples);
  declare_recording(options->recording, app);
  app.add_option("-o,--output", options->output, "The trace to write: a name in .tomos or .std")
      ->type_name("FILE")
      ->required();
  app.add_flag("--quiet", options->quiet, "No progress, no notes");
  return [options] { return run(*options); };
}

}  // namespace tomos
