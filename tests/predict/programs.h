// Random programs, small enough for brute force, and runs of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "event/event.h"
#include "oracle/generator.h"

namespace tomos::predict {

using oracle::Trace;

// Trace number `index` of a seed: a complete run of a random program, in random order.
Trace random_trace(std::uint64_t seed, std::uint64_t index);

// The same T observed in another order, if the search comes upon one.
std::optional<Trace> observed_otherwise(const Trace& trace, std::uint64_t seed);

// Whether nobody but its maker touches a variable that has not escaped: there is no telling what
// that would mean.
bool used_when_shared(const Trace& trace);

}  // namespace tomos::predict
