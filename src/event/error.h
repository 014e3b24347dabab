// Errors are values. A library says what is wrong; only the command line prints and exits.
#pragma once

#include <expected>
#include <string>

namespace tomos {

struct Error {
  std::string where;   // "trace.std:12", "trace.tomos at byte 4096"
  std::string what;    // what is wrong there
  std::string remedy;  // what to do about it
};

template <class T>
using Result = std::expected<T, Error>;

}  // namespace tomos
