// Whether every interleaving is equivalent to a serial one.
#pragma once

#include <cstddef>
#include <optional>

#include "interleavings.h"

namespace tomos::predict {

// How many states of a run (where the threads are and what has been read) are looked at.
inline constexpr std::size_t kMaxViews = 400'000;

struct Atomicity {
  bool decided = true;  // false: too many states
  bool atomic = true;
  Run witness;  // a complete run that is not equivalent to any serial one
};

Atomicity atomicity(const Interleavings& interleavings, std::size_t max_views = kMaxViews);

}  // namespace tomos::predict
