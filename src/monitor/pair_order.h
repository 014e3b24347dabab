// Whether two transactions can run in a wanted order, exactly: a walk over the grid of how far each
// of them has got, round the places where both would hold a lock.
//
// The paper's own test (an event can occur between two others if the locks held at the one and
// through the others have nothing in common) is necessary, but not sufficient: of two critical
// sections that overlap hand over hand, one lock or the other is always held.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "monitor/locksets.h"
#include "monitor/transaction_shape.h"

namespace tomos {

// A step of the one transaction must come before (or after) a step of the other.
struct Wanted {
  std::uint32_t own;
  std::uint32_t other;
  bool own_first;
};

// The steps named in `wanted`, in an order in which two transactions of these shapes can run, from
// their beginning to their end; nothing if there is none.
struct Scheduled {
  bool own;
  std::uint32_t step;
};
std::optional<std::vector<Scheduled>> schedule_pair(const Shape& own, const Shape& other,
                                                    std::span<const Wanted> wanted,
                                                    const Locksets& locksets);

}  // namespace tomos
