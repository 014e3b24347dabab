// How translation units are compiled: what reading and checking them share.
#pragma once

#include <clang/Tooling/CompilationDatabase.h>

#include <string>
#include <vector>

#include "clang/read_cpp.h"
#include "event/error.h"

namespace tomos::cpp {

Result<std::vector<clang::tooling::CompileCommand>> commands_for(const Options& options);

// Its flags, without those that make files, then `flags`.
std::vector<std::string> arguments_for(const clang::tooling::CompileCommand& command,
                                       const std::vector<std::string>& flags);

// Relative to where we are, if it is below.
std::string shown(const std::string& path);

}  // namespace tomos::cpp
