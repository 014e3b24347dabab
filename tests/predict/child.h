// Jobs in child processes, so that one that crashes or hangs is found like one that is wrong.
#pragma once

#include <sys/types.h>

#include <ctime>
#include <functional>

namespace tomos::predict {

// Ends the process with SIGPROF when it has used this much processor time from now on.
void limit_processor_time(time_t seconds);

// The child ends with the status that `job` returns.
pid_t start_child(const std::function<int()>& job);

// The child's wait status.
int run_child(const std::function<int()>& job);

}  // namespace tomos::predict
