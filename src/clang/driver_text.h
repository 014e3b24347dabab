// The Boolean program of a driver, while it is written.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "clang/read_driver.h"

namespace tomos::cpp {

struct DriverLine {
  std::string text;
  std::size_t depth = 0;
  DriverPosition position;
  DriverStep step = DriverStep::kNone;
};

struct DriverVariable {
  std::string name;  // in the Boolean program
  std::string type;  // "bool", "int[0..1]"; "lock", "cond"
  std::string initial;
};

struct DriverThread {
  std::string name;
  std::vector<DriverLine> lines;
  DriverPosition position;
};

// A name that the language allows.
std::string identifier(std::string_view text);

// Puts it together: text and origins of `driver`, whose files are known. Threads that do the same
// and that main starts in a row become one T[n], if it also joins them in a row: which of them does
// what need not be told apart then.
void write_driver(Driver& driver, const std::vector<DriverVariable>& variables,
                  std::vector<DriverThread> threads);

}  // namespace tomos::cpp
