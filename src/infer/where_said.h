// Where people say that a lock guards something. Mostly at the field itself, but not always:
//
// - Objects that are a part of what somebody else guards. A class that never takes a lock itself,
//   and whose objects are held only by fields that this lock guards, leaves its guard to them: it
//   is said at the field that holds the object, and nothing in the class, which knows of no lock.
// - Objects that only one method uses. The lock that is held there may be about other things: of
//   such guards people write fewer than half (59 of 131 in ART, litecoin, gRPC, Firefox and
//   WebRTC), of others four in five.
//
// For the analysis these guards are as good as any.
#pragma once

#include "core/program.h"
#include "infer/classes.h"
#include "infer/flow.h"

namespace tomos::infer {

// Sets Guard::said of the fields of objects whose guard was inferred.
void say_where(core::Program& program, const Classes& classes, const Flow& flow);

}  // namespace tomos::infer
