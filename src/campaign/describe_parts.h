// The pieces that findings of trials are made of.
#pragma once

#include <string>
#include <string_view>

#include "campaign/names.h"
#include "campaign/trial.h"
#include "report/finding.h"

namespace tomos::campaign {

Finding confirmed(Kind kind);

// What a thread does, in the words of reports: "acquire", "read".
std::string_view op_of(schedule::Kind kind);

// Of a lock or variable; `used`: a place where it is, if it has no name.
std::string object_name(std::uint64_t address, bool is_lock, const schedule::Place& used,
                        const TrialModules& modules, Names& names);

Finding::Event event_of(std::uint32_t thread, schedule::Kind kind, const std::string& object,
                        const schedule::Place& place, const TrialModules& modules, Names& names);

// Says of all threads that the finding names where they come from.
void add_threads(Finding& finding, const Trial& trial, const TrialModules& modules, Names& names);

// The cycle of waits, if there is one, else all that wait.
Finding describe_deadlock(const Trial& trial, const TrialModules& modules, Names& names);

}  // namespace tomos::campaign
