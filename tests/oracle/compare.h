// A monitor against brute force on one trace.
#pragma once

#include <cstdint>
#include <string>

#include "brute_force.h"
#include "generator.h"
#include "subjects.h"

namespace tomos::oracle {

// What the two disagree on; empty if on nothing. `seed` decides how the trace is cut into runs and
// where the monitor is cloned.
std::string compare(const Subject& subject, const Order& order, const Truth& truth,
                    std::uint64_t seed);

// What brute force finds wrong with itself: the two ways to the first violation differ.
std::string self_check(const Truth& truth);

}  // namespace tomos::oracle
