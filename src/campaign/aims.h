// What trials on record show to be possible: places where a thread could be cut.
//
// Two steps of a thread, and steps of another thread that conflict with the one and with the other:
// if these come between the two, no serial order explains it. That is what all analyses of
// atomicity look for, and with locks for objects it is how deadlocks come about, too. Most of them
// are harmless or impossible; a trial that has one for its aim (schedule/aim.cpp) finds out.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "schedule/area.h"

namespace tomos::campaign {

class Aims {
 public:
  // Takes in what a trial has put on record.
  void add(std::span<const schedule::Step> log);

  bool empty() const { return in_blocks_.empty() && elsewhere_.empty(); }
  // The aim of the trial with this seed: every place of a cut has the same chance, however often it
  // is passed. If there is none, an aim without a place.
  schedule::Aim draw(std::uint64_t seed) const;

 private:
  // Aims that differ only in threads and in how often the places were passed before.
  struct Alike {
    std::uint32_t found = 0;
    std::vector<schedule::Aim> kept;
  };
  // By the place of the cut; then by the places of what comes in between.
  using Cuts = std::map<std::uint64_t, std::map<std::pair<std::uint64_t, std::uint64_t>, Alike>>;

  static void keep(Cuts& cuts, const schedule::Aim& aim);

  Cuts in_blocks_;  // both steps are in one atomic block
  Cuts elsewhere_;
};

}  // namespace tomos::campaign
