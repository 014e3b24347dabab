// What the runtime and the reader of recordings leave out of a run.
#pragma once

#include <cstdint>

#include "raw.h"

namespace tomos::filter {

// What is on record, in the order of the record, with `ticks` of the clock between two events; with
// `distinct` also without transactions that are on record already (runtime/distinct.h). Places from
// kSweepingPlaces on have swept over other memory before.
Raw recorded(const Raw& raw, std::uint64_t ticks, bool distinct);
inline constexpr std::uint16_t kSweepingPlaces = 1000;

// What the reader makes of a recorded trace: accesses to variables that only one thread accesses or
// nobody writes (between two frees) are gone, with `distinct` also to those that no transaction
// accesses, and then transactions without events.
Trace without_influence(const Trace& trace, bool distinct);

}  // namespace tomos::filter
