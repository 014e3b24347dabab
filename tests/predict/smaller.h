// Makes a trace that shows something smaller, as long as it shows it.
#pragma once

#include <functional>

#include "programs.h"

namespace tomos::predict {

// Like oracle::shrink, which knows nothing of barriers; and in the end each thread runs as long as
// it can, so that the trace is easy to read.
Trace smaller(Trace trace, const std::function<bool(const Trace&)>& shows);

}  // namespace tomos::predict
