// What follows from who calls whom and who writes what, once all methods have been walked.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "infer/classes.h"
#include "infer/flow.h"

namespace tomos::infer {

// Private methods that nothing but constructors calls, for the object that is being made, and other
// such methods.
std::set<MethodId> initialising_methods(const Flow& flow, const Classes& classes);

// What each method overrides, in all classes above its own.
std::map<MethodId, std::vector<MethodId>> find_overridden(Classes& classes, Locks& locks);

// The fields that are written when others can see them.
std::set<const core::Field*> changing_fields(const Flow& flow,
                                             const std::set<MethodId>& initialising, Locks& locks);

// Those of them that may lead to different objects. A pointer to a lock that is written in one
// place only is taken to be set up there.
std::set<const core::Field*> wandering_fields(const Flow& flow, const Classes& classes);

// Classes that look after themselves: they have locks, or all that are derived from them do. A
// pointer to somebody else's lock does not count: that is a condition variable.
std::set<const core::Class*> locking_classes(const Flow& flow, const Classes& classes);

// What a sequence has for its value.
const core::Expr& value_of(const core::Program& program, ExprId id);

// Instantiations of a method of a template that nobody calls, though others of the same method are
// called: an override stands for those of all instantiations, so what only theirs call is left.
std::set<MethodId> spare_instantiations(const Flow& flow, const Classes& classes);

// Who calls a method, with a lock as it was at its own entry, excludes what the method does.
void exclude_for_callers(Flow& flow, const Classes& classes, Locks& locks);

}  // namespace tomos::infer
