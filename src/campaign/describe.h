// What a trial has shown, as findings.
#pragma once

#include <optional>
#include <string>

#include "campaign/names.h"
#include "campaign/trial.h"
#include "report/finding.h"

namespace tomos::campaign {

// How the program ends without us.
struct Expected {
  End end = End::kExited;
  int exit_status = 0;
  int signal = 0;
};

enum class Bug : std::uint8_t { kSignal, kExit, kHang, kDeadlock };

// What the program itself suffered in the trial, beside what it did wrong: the end of it is not the
// expected one.
std::optional<Bug> bug_of(const Trial& trial, const Expected& expected);

// Two violations, or two bugs, of one key are the same finding. Keys need no names and are fast to
// make; findings that differ in key can still turn out to be the same (Finding::id).
std::string key_of(const schedule::Violation& violation, const TrialModules& modules);
std::string key_of(Bug bug, const Trial& trial, const TrialModules& modules);

Finding describe(const schedule::Violation& violation, const Trial& trial,
                 const TrialModules& modules, Names& names);
Finding describe(Bug bug, const Trial& trial, const TrialModules& modules, Names& names);

// "main", "T3".
std::string thread_name(std::uint32_t number);

}  // namespace tomos::campaign
