// Runs an instrumented program and keeps what its runtime writes.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/project_file.h"
#include "event/error.h"

namespace tomos {

struct RecordOptions {
  std::vector<std::string> program;  // as the option parser gives it: see launch.h
  std::string config;
  std::optional<std::uint64_t> array_cutoff;
  bool record_all = false;
  bool order_free = false;  // leave out what only analyses that ask for order need
};

void declare_recording(RecordOptions& options, CLI::App& app);

// The folder that the recordings of a run are written into. Removed with all of them in the end,
// unless it is to be kept.
class RecordingFolder {
 public:
  // A fresh one, whose name starts with `prefix`.
  static Result<RecordingFolder> temporary(const std::string& prefix);
  // This one, made if it does not exist; it must not hold a recording yet.
  static Result<RecordingFolder> kept(const std::string& path);
  RecordingFolder(RecordingFolder&& other) noexcept;
  RecordingFolder& operator=(RecordingFolder&&) = delete;
  ~RecordingFolder();

  const std::string& path() const { return path_; }
  // What the program's runtime is told to write to.
  std::string recording() const { return path_ + "/recording"; }
  // The recordings that are there: of the program first, then of the processes it made.
  std::vector<std::string> recordings() const;
  // After this the file is still readable for whoever has it open.
  void discard(const std::string& recording) const;
  // It stays, with what is in it now.
  void keep() { keep_ = true; }
  // What to do when there was no room in it.
  std::string more_room() const;

 private:
  RecordingFolder(std::string path, bool keep) : path_(std::move(path)), keep_(keep) {}

  std::string path_;  // empty: nothing to remove
  bool keep_;
};

// $TMPDIR, else /tmp.
std::string temporary_folder();

// Runs the program with its recordings going into `folder`; its status as wait() gives it.
Result<int> record_program(const std::vector<std::string>& words, const RecordOptions& options,
                           const ProjectFile& project, const RecordingFolder& folder);

}  // namespace tomos
