// How sure one can be of a probability that was counted.
#pragma once

#include <cstdint>

namespace tomos::campaign {

struct Interval {
  double low = 0;
  double high = 1;
};

// Wilson's score interval at 95%: also right where few or nearly all trials hit, as most do here.
Interval wilson(std::uint64_t hits, std::uint64_t trials);

}  // namespace tomos::campaign
