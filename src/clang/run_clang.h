// Runs clang over one unit, and keeps what goes wrong there from everything else. Clang crashes on
// some sources, and whoever walks a syntax tree can; the other units must not be lost by that. So
// each unit has a thread with plenty of stack, and a crash or a lack of memory ends that unit only.
#pragma once

#include <clang/Tooling/Tooling.h>

#include <string>

namespace tomos::cpp {

// Whether the unit was read without errors. What ended it otherwise than clang's own messages say
// is added to `messages`.
bool run_clang(clang::tooling::ToolInvocation& invocation, const std::string& file,
               std::string& messages);

}  // namespace tomos::cpp
