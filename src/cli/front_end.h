// C and C++ sources, by the front end that is loaded for it.
#pragma once

#include "clang/read_cpp.h"
#include "clang/read_tm.h"

namespace tomos {

Result<cpp::Sources> read_cpp(const cpp::Options& options);
Result<cpp::TmSources> read_tm(const cpp::TmOptions& options);

}  // namespace tomos
