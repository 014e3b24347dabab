// One process of a recorded run: its recording, with names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/judge.h"
#include "cli/recording_names.h"
#include "event/error.h"
#include "trace/recording.h"

namespace tomos {

class RecordedProcess {
 public:
  // `program` is what the user calls the program that was started; empty: find out.
  static Result<RecordedProcess> open(const std::string& file, const std::string& program);

  // Whether any of its code was compiled with tomos-c++ or tomos-cc.
  bool is_instrumented() const;
  // "./server", "worker (process 412)"
  const std::string& name() const { return name_; }
  std::uint32_t pid() const { return recording_->header().pid; }

  // Its events; it must outlive them.
  std::unique_ptr<RecordedEvents> events();
  // Puts it to the analyses, under this name.
  void judge(Judge& judge, const std::string& name);

  // What is not in the recording although the process did it; empty if nothing is known to be
  // missing.
  std::string missing() const;
  // What to know before trusting a verdict on it. After events() or judge().
  std::vector<std::string> notes() const;

 private:
  std::string name_;
  std::unique_ptr<Recording> recording_;
  std::unique_ptr<ProgramNames> names_;
};

// Whether the file begins like a recording.
bool is_recording(const std::string& path);

// For a run that left no recording of instrumented code; `status` is as wait() gives it.
Error not_instrumented(const std::string& program, int status);

}  // namespace tomos
