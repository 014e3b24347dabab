// Threads of one group do the same, so states that differ only in which of them does what have the
// same future. Here they are put in one order.
//
// The order is by what can be said of a thread without naming another one, then by what it has to
// do with others of which the same is true. Threads of which both are the same stay as they are:
// then some states that are alike are not recognised as such, which costs time and nothing else.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/graph.h"
#include "model/program.h"

namespace tomos::model {

// Thread i becomes what thread from[i] was; `from` says so afterwards. Whether anything was moved.
bool sort_threads(const Program& program, std::size_t tracked, std::vector<Value>& values,
                  std::span<std::uint8_t> from);

}  // namespace tomos::model
