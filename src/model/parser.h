// Reads a Boolean program. Errors say where, by line and column.
#pragma once

#include <string_view>

#include "event/error.h"
#include "model/ast.h"

namespace tomos::model {

// `file` is what errors call the source.
Result<Ast> parse(std::string_view source, std::string_view file);

}  // namespace tomos::model
