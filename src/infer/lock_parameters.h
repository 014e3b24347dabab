// Parameters that are locks. Often all callers pass the same one, seen from the object whose method
// is called: its own mutex, say, in the guard that the caller has made (`step(guard)`). Then the
// parameter is that lock: a method that gives it back and takes it again gives back what guards its
// object's fields, and is not atomic.
//
// Which lock a call passes may depend on what the caller was given, so calls are looked at until
// nothing changes; a call that passes on a parameter of which nothing is known yet says nothing.
// Overrides have the parameters of what they override.
#pragma once

#include "core/program.h"

namespace tomos::infer {

// In the bodies of methods, and in what is declared of them.
void settle_lock_parameters(core::Program& program);

}  // namespace tomos::infer
