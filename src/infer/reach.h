// Which objects other threads can get at. Some are made, used and forgotten by one thread: the
// state of a long computation, a record that is filled in and returned. No lock guards these,
// whatever is held while they are used.
//
// An object can be reached if a global, or a field of one that can be reached, has or leads to
// objects of its class or of one above it, if a lock is its own, or if somebody was told of it who
// may tell others: a lambda that runs later, a pointer without a type. What a method does to its
// own object says nothing; a class whose objects are only seen where nobody else knows of them yet
// is not reached either.
#pragma once

#include <set>

#include "core/program.h"
#include "infer/classes.h"
#include "infer/flow.h"

namespace tomos::infer {

std::set<const core::Class*> reached_classes(Locks& locks, const Classes& classes,
                                             const Flow& flow);

}  // namespace tomos::infer
