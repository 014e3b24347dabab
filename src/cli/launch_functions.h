// The functions of a program that was compiled without the pass plugin (by g++), for its runtime.
#pragma once

#include <string>

#include "event/error.h"

namespace tomos {

// If `program`, a library that it is linked with or one in its folder reports its functions by
// address only (-finstrument-functions), writes a table of them to `table` and gives true. A line
// of the table is
//
//   module path, entry address in the file (hex), flags (hex, runtime/abi.h), line, name, file
//
// separated by tabs, sorted by module and address. A file that is no ELF file has no functions.
Result<bool> write_functions(const std::string& program, const std::string& table);

}  // namespace tomos
