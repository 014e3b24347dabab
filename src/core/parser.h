// Reads the text form of the core language (docs/aj2.md).
#pragma once

#include <string_view>

#include "core/program.h"
#include "event/error.h"

namespace tomos::core {

// `file` is what positions and errors call the text. What it declares is added to the program that
// other files have made: names mean the same in all of them.
Result<Program> parse(std::string_view text, std::string_view file, Program made_before = {});

}  // namespace tomos::core
