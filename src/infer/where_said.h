// Where people say that a lock guards something. Mostly at the field itself, but not always:
//
// - Objects that are a part of what somebody else guards. A class that never takes a lock itself,
//   and whose objects are held only by fields that this lock guards, leaves its guard to them: it
//   is said at the field that holds the object, and nothing in the class, which knows of no lock.
// - Objects that only one method uses. The lock that is held there may be about other things: of
//   such guards people write fewer than half (59 of 131 in ART, litecoin, gRPC, Firefox and
//   WebRTC), of others four in five.
// - Locks that attributes know nothing of. Where most locks are of classes with the attributes of a
//   capability, one of a class without any cannot be named in another attribute: Clang's checker
//   would not take it. Of such guards people wrote 1, and left 63 unsaid, in litecoin, gRPC,
//   realm-core and WebRTC.
//
// For the analysis these guards are as good as any.
#pragma once

#include "core/program.h"
#include "infer/classes.h"
#include "infer/flow.h"

namespace tomos::infer {

// Sets Guard::said of the fields and globals whose guard was inferred, and what methods leave
// unsaid of locks without attributes.
void say_where(core::Program& program, Classes& classes, const Flow& flow);

}  // namespace tomos::infer
