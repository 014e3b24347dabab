// Who calls whom in a file of machine code, as far as it is written there: calls through pointers
// are not seen.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "symbols/debug_file.h"

namespace tomos::symbols {

// The compilation unit of each function, by its entry.
using UnitOf = std::unordered_map<std::uint64_t, std::size_t>;

// The entries of the functions from which calls lead to an imported function of one of these names.
// As for a compiler, a way leads only through what is in the unit of the caller: the functions
// defined there, and those that every unit has its own copy of, like inline ones.
std::unordered_set<std::uint64_t> callers_of(DebugFile& file, const UnitOf& unit_of,
                                             std::span<const char* const> imported);

}  // namespace tomos::symbols
