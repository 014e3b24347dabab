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

  // Whether repeated accesses were left out of the recording.
  bool is_filtered() const { return recording_->header().filtered != 0; }

  // Its events; it must outlive them.
  std::unique_ptr<Source> events();
  // Puts it to the analyses, under this name.
  void judge(Judge& judge, const std::string& name);

  // What is not in the recording although the process did it; empty if nothing is known to be
  // missing.
  std::string missing() const;
  // What to know before trusting a verdict on it. After the last of events(), or judge().
  std::vector<std::string> notes() const;

 private:
  // Libraries that synchronise without being instrumented: "libplain.so and libother.so
  // synchronise threads but are not built with tomos-c++"; empty: none.
  std::string unseen() const;

  std::string name_;
  std::unique_ptr<Recording> recording_;
  std::unique_ptr<ProgramNames> names_;
  std::unique_ptr<std::uint64_t> repaired_ = std::make_unique<std::uint64_t>(0);
};

// Whether the file begins like a recording.
bool is_recording(const std::string& path);

// For a run that left no recording of instrumented code; `status` is as wait() gives it.
Error not_instrumented(const std::string& program, int status);

}  // namespace tomos
