// The first phase of type inference for atomicity: which lock guards which field, and which locks
// each method requires. The paper leaves that to another (Rcc/Sat); this is our own design.
//
// What a field could be guarded by are lock expressions over its object (its mutexes, those of the
// objects that it leads to for good, the ghost parameters of its class) and global locks. Every
// access without the lock is in order if its method requires the lock, which its callers have to
// hold then. Some discipline breaks the fewest accesses; evidence decides whether it is one that
// somebody had in mind: a lock of the object itself is likely, a global one that happens to be held
// is not, and a field that is never written once others can see it needs no lock at all.
// discipline.h says how the best is found. The accesses that break it are findings.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/program.h"
#include "event/error.h"
#include "report/finding.h"

namespace tomos::infer {

struct GuardInference {
  std::vector<Finding> findings;
  bool complete = true;  // no: the solver's budget was spent, and better guards may exist
  std::vector<std::string> entered_again;  // locks that their holders acquire, as if they could
};

// Fills in the guards and required locks of the program, as far as they are not declared, and marks
// what breaks them (Expr::excused). Ghost parameters that nobody wrote down (ghosts.h) guard only
// these fields, if any.
Result<GuardInference> infer_guards(core::Program& program,
                                    const std::set<const core::Field*>* for_ghosts = nullptr);

}  // namespace tomos::infer
