// C and C++ sources, by the front end that is loaded for it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "clang/read_cpp.h"
#include "clang/read_driver.h"
#include "clang/read_tm.h"

namespace tomos {

Result<cpp::Sources> read_cpp(const cpp::Options& options);
Result<cpp::TmSources> read_tm(const cpp::TmOptions& options);
Result<cpp::DriverSources> read_driver(const cpp::Options& options, bool counts);

// With the macros that we ship, and, if asked for, with attributes on the locks of the system.
Result<std::vector<core::CompilerWarning>> check_cpp(const cpp::Options& options,
                                                     const cpp::Texts& texts,
                                                     const std::set<std::string>& units,
                                                     bool annotated_system);
// The folders for that: the macros, the locks.
std::string macro_headers();
std::string annotated_headers();

}  // namespace tomos
