// What can be left out of a transaction when it is known which variables matter.
#pragma once

#include <functional>

#include "monitor/transaction_shape.h"

namespace tomos {

// Leaves out accesses to variables that are not wanted. What comes before the first access that
// stays, up to the last moment without locks, goes too, and so does what follows the last access,
// from the first such moment on: it can run while the other transaction has not begun, or when it
// has ended, and keeps it from nothing. False if no access is left.
bool leave_only(const std::function<bool(SharedId)>& is_wanted, Shape& shape);

}  // namespace tomos
