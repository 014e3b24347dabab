// C and C++ sources, by the front end that is loaded for it.
#pragma once

#include "clang/read_cpp.h"

namespace tomos {

Result<cpp::Sources> read_cpp(const cpp::Options& options);

}  // namespace tomos
