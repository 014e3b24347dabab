// Writes programs, and parts of them, as text that the parser reads back.
#pragma once

#include <string>

#include "core/program.h"

namespace tomos::core {

std::string to_text(const Program& program);
std::string to_text(const Program& program, TermId atomicity);
std::string to_text(const Program& program, ExprId expr);
std::string to_text(const Locks& locks, const Predicate& predicate);
std::string to_text(const Locks& locks, const Type& type);

}  // namespace tomos::core
