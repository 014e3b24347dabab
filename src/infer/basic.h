// The algebra of basic atomicities (section 3.1): order, join, sequential composition, iteration.
// The paper's five are a chain; left and right movers lie side by side between mover and atomic,
// with the composition of Lipton's reduction.
#pragma once

#include <algorithm>

#include "core/atomicity.h"

namespace tomos::infer {

using core::Basic;

constexpr bool leq(Basic a, Basic b) {
  if (a == Basic::kLeft && b == Basic::kRight) return false;
  return a <= b;
}

constexpr Basic join(Basic a, Basic b) {
  if (leq(a, b)) return b;
  return leq(b, a) ? a : Basic::kAtomic;
}

constexpr Basic meet(Basic a, Basic b) {
  if (leq(a, b)) return a;
  return leq(b, a) ? b : Basic::kMover;
}

// First right-movers, at most one step that is neither, then left-movers: anything else is
// compound.
constexpr Basic sequence(Basic a, Basic b) {
  if (a == Basic::kError || b == Basic::kError) return Basic::kError;
  if (a == Basic::kCompound || b == Basic::kCompound) return Basic::kCompound;
  if (a <= Basic::kMover || b <= Basic::kMover) return join(a, b);
  const bool committed = a == Basic::kLeft || a == Basic::kAtomic;
  if (committed && b != Basic::kLeft) return Basic::kCompound;
  return a == b ? a : Basic::kAtomic;
}

constexpr Basic iterate(Basic a) { return a == Basic::kAtomic ? Basic::kCompound : a; }

}  // namespace tomos::infer
