// From the program as it is written to what can be run: names are resolved, types checked,
// procedures put where they are called, threads T[n] made n.
#pragma once

#include <string_view>

#include "event/error.h"
#include "model/ast.h"
#include "model/program.h"

namespace tomos::model {

Result<Program> compile(const Ast& ast, std::string_view file);

// parse() and compile().
Result<Program> load(std::string_view source, std::string_view file);

}  // namespace tomos::model
