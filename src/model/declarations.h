// What a program declares before any code: constants, variables, locks, conditions, procedures and
// threads, by name and in the program's tables.
#pragma once

#include <cstddef>
#include <vector>

#include "model/ast.h"
#include "model/expressions.h"
#include "model/program.h"

namespace tomos::model {

// For each thread of the source the number of the first that it becomes.
std::vector<std::size_t> declare(const Ast& ast, Program& program, Expressions& names);

}  // namespace tomos::model
