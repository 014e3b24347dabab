// The variables of a file that have one address for the whole run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "symbols/debug_info.h"
#include "symbols/layout.h"

namespace tomos::symbols {

class Globals {
 public:
  explicit Globals(DebugInfo& info);

  // "table[3].next": what lies at an address of the file; empty if nothing is known to.
  std::string name(std::uint64_t address, Layout& layout);

 private:
  struct Variable {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    Dwarf_Die die{};
    Dwarf_Die type{};
  };

  DebugInfo& info_;
  std::vector<Variable> variables_;  // by begin
};

}  // namespace tomos::symbols
