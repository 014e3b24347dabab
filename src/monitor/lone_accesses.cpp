#include "monitor/lone_accesses.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tomos {

void LoneAccesses::add(Shape& shape, std::size_t step, const PeriodSet::Run& period) {
  const SharedId variable = std::exchange(shape.steps[step].object, 0);
  const PatternId pattern = patterns_.intern(shape);
  if (full()) rehash(accesses_.size());
  std::uint32_t& slot = slots_[find(variable, pattern, period.thread)];
  if (slot != 0) {
    PeriodSet::Run& known = accesses_[slot - 1].periods;
    if (period.first <= known.last + 1) {
      known.last = period.last;
      return;
    }
  }
  accesses_.push_back({.variable = variable, .pattern = pattern, .periods = period});
  slot = static_cast<std::uint32_t>(accesses_.size());
}

std::size_t LoneAccesses::find(SharedId variable, PatternId pattern, ThreadId thread) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = mix(mix(thread, variable), pattern) & mask;
  for (; slots_[i] != 0; i = (i + 1) & mask) {
    const Access& known = accesses_[slots_[i] - 1];
    if (known.variable == variable && known.pattern == pattern && known.periods.thread == thread) {
      break;
    }
  }
  return i;
}

void LoneAccesses::rehash(std::size_t room) {
  std::size_t size = 1024;
  while (size < 2 * (room + 1)) size *= 2;
  slots_.assign(size, 0);
  for (std::uint32_t i = 0; i < accesses_.size(); ++i) {
    const Access& access = accesses_[i];
    slots_[find(access.variable, access.pattern, access.periods.thread)] = i + 1;
  }
}

std::vector<LoneAccesses::Access> LoneAccesses::take() {
  slots_ = {};
  std::ranges::sort(accesses_, {}, [](const Access& access) {
    return std::tuple(access.variable, access.pattern, access.periods.thread, access.periods.first);
  });
  return std::move(accesses_);
}

}  // namespace tomos
