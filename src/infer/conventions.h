// Locks that all callers of a method hold: its author counts on them, though nothing that is
// guarded is touched there. People write that down like any other requirement. Where only its own
// class or file can call it, locks that are near are meant: those of the method's object, of what
// it is given, and global ones beside it. Where anybody can, it is its object's own lock, if the
// method uses something that might have been guarded by it.
#pragma once

#include <vector>

#include "infer/classes.h"
#include "infer/conditional.h"
#include "infer/flow.h"
#include "infer/global_locks.h"
#include "infer/requirements.h"

namespace tomos::infer {

// Beyond what methods require already.
std::vector<MethodLock> conventions(Locks& locks, Classes& classes, const Flow& flow,
                                    const Requirements& requirements);

}  // namespace tomos::infer
