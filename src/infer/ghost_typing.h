// The unification of ghost_types.h: the locks of fields and globals are chosen, all other types
// follow.
//
// A lock that nobody can name where an object goes (that of an object which is just being made) is
// an unknown one. Only a new object may go there, and only once: else two owners could have it.
#pragma once

#include <set>
#include <string>

#include "core/program.h"
#include "infer/classes.h"
#include "infer/flow.h"
#include "infer/ghost_types.h"

namespace tomos::infer {

// Completes what is made: signatures, new objects, calls. The result are the families for which
// that does not work; if there are any, the rest means nothing.
std::set<std::string> type_ghosts(const core::Program& program, Locks& locks, Classes& classes,
                                  const Flow& flow, const Families& families, Nulls nulls,
                                  FreeNames& names, GhostTypes& made);

}  // namespace tomos::infer
