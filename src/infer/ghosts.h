// Both halves of the first phase: guards, and ghost parameters for classes whose objects are under
// locks of others.
//
// A class gets a ghost parameter if one of its fields changes and has no guard otherwise, or if it
// locks its own objects and whoever uses them holds a lock already (a protecting lock). It is kept
// if all goes well with it: the program is well typed, no other guard is another than before, no
// method is found broken that was not, and there is a field that the ghost parameter guards or a
// method that is atomic only with it. A program that declares ghost parameters has those.
#pragma once

#include "core/program.h"
#include "event/error.h"
#include "infer/ghost_types.h"
#include "infer/guards.h"

namespace tomos::infer {

// infer_guards, and the ghost parameters.
Result<GuardInference> infer_guards_and_ghosts(core::Program& program, Nulls nulls);

}  // namespace tomos::infer
