// Where a thread's transactions begin and end: nested ones count only for matching.
#pragma once

#include <cstdint>

#include "event/event.h"

namespace tomos {

struct TransactionBounds {
  std::uint32_t depth = 0;
  LabelId label = 0;     // of the outermost begin
  LocationId start = 0;  // and its place

  bool inside() const { return depth > 0; }

  // Whether this is the outermost begin, or end.
  bool begin(const Event& event) {
    if (depth++ > 0) return false;
    label = event.object;
    start = event.location;
    return true;
  }
  bool end() {
    if (depth == 0) return false;
    return --depth == 0;
  }
};

}  // namespace tomos
