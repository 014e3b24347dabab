// C and C++ source with transactions, for `tomos tm`. Loaded like read_cpp.h.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "clang/read_cpp.h"
#include "event/error.h"
#include "tm/program.h"

namespace tomos::cpp {

struct TmOptions {
  Options sources;                                          // their cache is not used
  std::vector<std::pair<std::string, std::string>> macros;  // library styles: see rewrite_tm.h
  std::vector<std::pair<std::string, std::string>> calls;
  std::vector<std::string> scopes;
  std::vector<std::string> lambdas;
};

struct TmSources {
  tm::Program program;
  std::size_t units = 0;
  std::vector<LeftOut> left_out;
};

inline constexpr const char* kReadTm = "tomos_read_tm";
using ReadTm = void(const TmOptions& options, Result<TmSources>& result);

}  // namespace tomos::cpp
