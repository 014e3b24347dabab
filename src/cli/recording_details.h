// What a recording knows about the places and threads of a finding beyond what events carry: the
// calls that led there, where threads were made, which test was running.
#pragma once

#include <string>
#include <unordered_map>

#include "cli/recording_names.h"
#include "report/finding.h"
#include "trace/recording.h"

namespace tomos {

class RecordingDetails {
 public:
  // All must outlive it, and nothing may be read from `events` meanwhile.
  RecordingDetails(const RecordedEvents& events, ProgramNames& names)
      : events_(events), names_(names) {}

  void add_to(Finding& finding);

 private:
  std::vector<std::string> stack_at(const Location& location);
  void add_thread(Finding& finding, const std::string& name);
  std::string test_of_finding(const Finding& finding) const;

  const RecordedEvents& events_;
  ProgramNames& names_;
  std::unordered_map<std::string, LocationId> locations_;  // filled when first needed
};

}  // namespace tomos
