// Objects that are a part of what somebody else guards. A class that never takes a lock itself, and
// whose objects are held only by fields that this lock guards, leaves its guard to them: people say
// so at the field that holds the object, and nothing in the class, which knows of no lock.
#pragma once

#include <set>

#include "core/program.h"
#include "infer/classes.h"
#include "infer/flow.h"

namespace tomos::infer {

// The fields of such classes that a lock guards which is not their object's own.
std::set<const core::Field*> fields_of_parts(const Locks& locks, const Classes& classes,
                                             const Flow& flow);

}  // namespace tomos::infer
