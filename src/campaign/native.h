// A run that nothing schedules: what the program does by itself, and how long that takes.
#pragma once

#include "campaign/found.h"
#include "campaign/program.h"
#include "campaign/runner.h"
#include "event/error.h"

namespace tomos::campaign {

// With `adapt` trials get more time than options.timeout if the program is slow. A campaign and the
// replay of one of its trials must do the same here: what a trial learns beforehand depends on what
// was stopped.
Result<Expected> run_natively(const Program& program, Runner::Options& options, bool adapt);

}  // namespace tomos::campaign
