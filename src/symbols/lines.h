// Where the code of a line of source is, in a file of machine code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "event/error.h"

namespace tomos {

struct CodeRange {
  std::uint64_t begin = 0;  // in the file
  std::uint64_t end = 0;
};

// Of all copies, inlined ones too. `file` may be the last part of a path. None: there is no such
// line, or no debugging information. `with_calls`: what the line calls and is inlined there counts
// as the line's.
Result<std::vector<CodeRange>> code_of_line(const std::string& program, const std::string& file,
                                            std::uint32_t line, bool with_calls);

}  // namespace tomos
