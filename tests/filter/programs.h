// Random programs that repeat themselves, and runs of them.
#pragma once

#include <cstdint>

#include "raw.h"

namespace tomos::filter {

// Raw trace number `index` of a seed: the same on every machine.
Raw random_raw(std::uint64_t seed, std::uint64_t index);

}  // namespace tomos::filter
