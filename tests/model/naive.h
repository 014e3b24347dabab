// What is true of a small program, by going through its runs one by one: every interleaving, every
// choice, and for each run the conflict graph from the beginning. Nothing here is shared with the
// model checker.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "random_program.h"

namespace tomos::oracle {

enum class Wrong : std::uint8_t { kCycle, kAssertion, kNotHeld, kStarted, kDeadlock };

struct NaiveTruth {
  std::uint32_t shortest = 0;  // steps of the shortest run that goes wrong
  std::set<Wrong> wrong;       // in what ways runs of that length do; empty: none goes wrong
  bool complete = true;        // no run was longer than allowed
};

// Looks at runs of at most `most_steps`; nothing if there are too many of them.
std::optional<NaiveTruth> go_through(const SmallProgram& program, std::uint32_t most_steps);

}  // namespace tomos::oracle
