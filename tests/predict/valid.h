// That a random trace is one the analyses may be given.
#pragma once

#include <string>

#include "programs.h"
#include "truth.h"

namespace tomos::predict {

// What is wrong with it by the rules of the trace validator, or because it is not an interleaving
// of its own events; empty if nothing is.
std::string why_invalid(const Trace& trace, const Truth& truth);

}  // namespace tomos::predict
