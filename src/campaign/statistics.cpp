#include "campaign/statistics.h"

#include <algorithm>
#include <cmath>

namespace tomos::campaign {

Interval wilson(std::uint64_t hits, std::uint64_t trials) {
  if (trials == 0) return {};
  constexpr double kZ = 1.959963984540054;  // the normal distribution has 2.5% beyond it
  const auto n = static_cast<double>(trials);
  const double p = static_cast<double>(std::min(hits, trials)) / n;
  const double middle = p + kZ * kZ / (2 * n);
  const double half = kZ * std::sqrt(p * (1 - p) / n + kZ * kZ / (4 * n * n));
  const double scale = 1 + kZ * kZ / n;
  return {.low = std::max(0.0, (middle - half) / scale),
          .high = std::min(1.0, (middle + half) / scale)};
}

}  // namespace tomos::campaign
