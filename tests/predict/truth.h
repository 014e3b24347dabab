// What brute force says of a trace: all that the analyses are compared with.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "atomicity.h"
#include "event/event.h"
#include "interleavings.h"
#include "model.h"

namespace tomos::predict {

struct Truth {
  explicit Truth(std::span<const Event> trace, const ModelOptions& options = {});

  Interleavings interleavings;
  bool decided = false;  // false: too big, and the rest is not filled
  std::optional<Run> deadlock;
  std::optional<Run> lock_deadlock;  // threads wait for each other's locks in a circle
  std::optional<Interleavings::Race> race;

  // Of the complete runs; what follows is only filled if there is no deadlock.
  Atomicity atomicity;
  // The pairs of transactions of different threads that are not atomic, taken alone.
  std::vector<std::pair<std::size_t, std::size_t>> cut_pairs;
  // The variables for which T is not atomic, with the accesses to the others gone.
  std::vector<std::uint32_t> cut_variables;

  const Model& model() const { return interleavings.model(); }
  bool is_cut_pair(std::size_t t, std::size_t u) const;
};

}  // namespace tomos::predict
