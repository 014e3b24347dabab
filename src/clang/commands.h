// How translation units are compiled, and what of it a front end needs.
#pragma once

#include <clang/Tooling/CompilationDatabase.h>

#include <string>
#include <vector>

#include "event/error.h"

namespace tomos::cpp {

// Of the compile_commands.json in the folder `build`; none: the files alone. No files: all.
Result<std::vector<clang::tooling::CompileCommand>> commands_for(
    const std::string& build, const std::vector<std::string>& files);

std::vector<std::string> arguments_for(const clang::tooling::CompileCommand& command,
                                       const std::vector<std::string>& flags);

// A path as people here would write it.
std::string shown(const std::string& path);

}  // namespace tomos::cpp
