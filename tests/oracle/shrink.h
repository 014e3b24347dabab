// Makes a trace that shows something smaller, as long as it shows it.
#pragma once

#include <functional>

#include "generator.h"

namespace tomos::oracle {

// A valid trace that still `shows`, of which no thread, transaction, pair of matching events or
// event can be left out and no two variables or locks be made one.
Trace shrink(Trace trace, const std::function<bool(const Trace&)>& shows);

}  // namespace tomos::oracle
