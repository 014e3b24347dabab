#include "monitor/transaction_shape.h"

namespace tomos {

LocksetId held_across(const Shape& shape, std::size_t from, std::size_t to, Locksets& locksets) {
  LocksetId held = shape.steps[from].held;
  for (std::size_t i = from + 1; i <= to && held != 0; ++i) {
    if (shape.steps[i].held != held) held = locksets.common(held, shape.steps[i].held);
  }
  return held;
}

}  // namespace tomos
