// Processes that outlive who started them: daemons, which leave the process group of their trial.
// They become children of this process, and can be told by what they were started with.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>

namespace tomos::campaign {

// From now on orphans come to this process.
void adopt_orphans();

// Ends those that belong to the trial with this area; all if `area` is empty. Those among
// `others`, which run on, are no orphans.
void end_orphans(const std::string& area, std::span<const pid_t> others);

// Ends all children; may be called by a signal handler.
void end_children();

}  // namespace tomos::campaign
