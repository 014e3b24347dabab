// What was inferred of source code, for people: guards, atomicities, and how many of the methods
// and critical sections are atomic (the table of the type-inference paper).
#pragma once

#include <string>

#include "report/report.h"

namespace tomos {

std::string print_guards_and_methods(const Inferred& inferred);
std::string print_table(const Inferred& inferred);

}  // namespace tomos
