// What can be known of a program without running it: for every place in the code what may still
// happen from there (Facts, program.h), and which variables the monitor need not know.
#pragma once

#include "model/program.h"

namespace tomos::model {

void find_facts(Program& program);

// Whether a value or an index in it may be any: `*`.
bool chooses(const Program& program, const Edge& edge);

}  // namespace tomos::model
