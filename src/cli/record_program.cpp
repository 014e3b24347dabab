#include "cli/record_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/launch.h"
#include "cli/launch_functions.h"
#include "cli/options.h"

namespace tomos {

namespace {

namespace fs = std::filesystem;

Error cannot_make(const std::string& path, int error) {
  return {.where = path,
          .what = "cannot make the folder for the recording: " +
                  std::error_code(error, std::generic_category()).message(),
          .remedy =
              "Check that the folder above exists and may be written to; for temporary ones "
              "TMPDIR names another."};
}

bool is_recording(const fs::path& path) {
  const std::string name = path.filename().string();
  return name == "recording" || name.starts_with("recording.");
}

// "recording.412b" comes after "recording.412" and "recording.99".
std::pair<std::uint64_t, std::string> order(const std::string& path) {
  const std::string name = fs::path(path).extension().string();
  std::uint64_t number = 0;
  if (!name.empty()) std::from_chars(name.data() + 1, name.data() + name.size(), number);
  return {number, name};
}

std::string joined(std::string_view variable, const std::vector<std::string>& patterns) {
  return fmt::format("{}={}", variable, fmt::join(patterns, "\n"));
}

}  // namespace

void declare_recording(RecordOptions& options, CLI::App& app) {
  app.add_option("PROG", options.program,
                 "Behind --: the program, built with tomos-c++ or\ntomos-cc, and its arguments")
      ->required();
  app.add_option("--config", options.config, "Project file (default: tomos.toml if there is one)")
      ->type_name("FILE");
  app.add_option(
         "--array-cutoff", options.array_cutoff,
         "Of large heap objects look only at the first N\nbytes; 0: look at all (default: 256)")
      ->type_name("N")
      ->default_str("")
      ->check(whole_number(0, std::numeric_limits<std::uint32_t>::max()));
  app.add_flag("--record-all", options.record_all, "Record also what can influence no verdict");
}

Result<RecordingFolder> RecordingFolder::temporary(const std::string& prefix) {
  std::error_code error;
  std::string path = fs::absolute(prefix, error).string() + ".XXXXXX";
  if (error || ::mkdtemp(path.data()) == nullptr) {
    return std::unexpected(cannot_make(prefix, error ? error.value() : errno));
  }
  return RecordingFolder(std::move(path), false);
}

Result<RecordingFolder> RecordingFolder::kept(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  const fs::path real = error ? fs::path() : fs::canonical(path, error);
  if (error) return std::unexpected(cannot_make(path, error.value()));
  RecordingFolder folder(real.string(), true);
  if (!folder.recordings().empty()) {
    return std::unexpected(Error{.where = path,
                                 .what = "holds a recording already",
                                 .remedy = "Remove it, or choose another folder."});
  }
  return folder;
}

RecordingFolder::RecordingFolder(RecordingFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), keep_(other.keep_) {}

RecordingFolder::~RecordingFolder() {
  std::error_code error;  // what cannot be removed stays
  if (!path_.empty() && !keep_) fs::remove_all(path_, error);
}

std::vector<std::string> RecordingFolder::recordings() const {
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, error)) {
    if (is_recording(entry.path())) files.push_back(entry.path().string());
  }
  std::ranges::sort(files, {}, order);
  return files;
}

void RecordingFolder::discard(const std::string& recording) const {
  std::error_code error;
  if (!keep_) fs::remove(recording, error);
}

std::string RecordingFolder::more_room() const {
  const fs::path above = fs::path(path_).parent_path();
  std::error_code error;
  const bool temporary = !keep_ && fs::equivalent(above, temporary_folder(), error);
  return fmt::format(
      "Make room in {}, {}", (keep_ ? fs::path(path_) : above).string(),
      temporary ? "or let TMPDIR name another folder" : "or record in another folder");
}

std::string temporary_folder() {
  const char* folder = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): nothing sets it
  return folder == nullptr || *folder == 0 ? "/tmp" : folder;
}

Result<int> record_program(const std::vector<std::string>& words, const RecordOptions& options,
                           const ProjectFile& project, const RecordingFolder& folder) {
  std::vector<std::string> environment = {"TOMOS_RECORDING=" + folder.recording()};
  if (!project.atomic.empty()) environment.push_back(joined("TOMOS_ATOMIC", project.atomic));
  if (!project.ignore.empty()) environment.push_back(joined("TOMOS_IGNORE", project.ignore));
  if (!project.include.empty()) environment.push_back(joined("TOMOS_INCLUDE", project.include));
  const auto cutoff = options.array_cutoff ? options.array_cutoff : project.array_cutoff;
  if (cutoff) environment.push_back(fmt::format("TOMOS_ARRAY_CUTOFF={}", *cutoff));
  if (options.record_all) {
    environment.emplace_back("TOMOS_FILTER=off");
  } else if (options.order_free) {
    environment.emplace_back("TOMOS_FILTER=distinct");
  }

  const std::string functions = folder.path() + "/functions";
  const auto needed = write_functions(find_program(words[0]), functions);
  if (!needed) return std::unexpected(needed.error());
  if (*needed) environment.push_back("TOMOS_FUNCTIONS=" + functions);
  return launch(words, environment);
}

}  // namespace tomos
