// The guards of static variables (`static T x = ...;` in a function).
//
// The compilers look at a guard inline, with an atomic load of one byte, and call the C++ library
// only while it is not set. The library's store is not instrumented, so what the load means is told
// here: a guard that is known to be set is a wait for the thread that set it, not a variable.
#pragma once

#include "runtime/hooks.h"

namespace tomos::runtime {

// At an atomic load that found the byte set. False if it is no guard that was seen being set.
bool waited_for_guard(const volatile void* guard, Address pc);

// Whether this thread has waited for `flag` before, as far as it remembers; it remembers this time.
// For what is set once and for all.
bool has_waited_before(const volatile void* flag);

}  // namespace tomos::runtime
