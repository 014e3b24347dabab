// What trials on record show to be possible: places where a thread could be cut.
//
// Two steps of a thread, and steps of another thread that conflict with the one and with the other:
// if these come between the two, no serial order explains it. That is what all analyses of
// atomicity look for, and with locks for objects it is how deadlocks come about, too. Most of them
// are harmless or impossible; a trial that has one for its aim (schedule/aim.cpp) finds out.
//
// Some are more promising than others, which our programs show (docs/fuzz.md): above all those in
// which the thread holds a lock all the while, and the other does without it. And an aim that was
// tried in vain is tried less often than one that was not.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "schedule/area.h"

namespace tomos::campaign {

class Aims {
 public:
  // Takes in what a trial has put on record.
  void add(std::span<const schedule::Step> log);

  // The aim was tried, and nothing came of it.
  void put_back(const schedule::Aim& aim);
  bool is_put_back(const schedule::Aim& aim) const;

  bool empty() const;
  // The aim of the trial with this seed: every place of a cut in the same role has the same chance,
  // however often it is passed. One that was put back only if it is hard to find another. If there
  // is none, an aim without a place.
  schedule::Aim draw(std::uint64_t seed) const;

 private:
  // Aims that differ only in threads and in how often the places were passed before.
  struct Alike {
    std::uint32_t found = 0;
    std::vector<schedule::Aim> kept;
  };
  // By the places of what comes in between.
  using Cut = std::map<std::pair<std::uint64_t, std::uint64_t>, Alike>;
  // By the place of the cut.
  using Role = std::map<std::uint64_t, Cut>;
  // By where the thread that is cut begins: a role that many threads or many places play is not
  // tried more often for it.
  using Cuts = std::map<std::uint64_t, Role>;

  static void keep(Role& role, const schedule::Aim& aim);

  // By what speaks for them, a bit for each sign (aims.cpp).
  using Classes = std::map<std::uint32_t, Cuts>;

  template <class Chance>
  const Cuts& some_class(Chance& chance) const;

  Classes classes_;
  std::set<std::array<std::uint64_t, 6>> put_back_;  // places, threads and times
};

}  // namespace tomos::campaign
