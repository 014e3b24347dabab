// How trials are scheduled, and what of that the seed alone decides.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "schedule/area.h"

namespace tomos::campaign {

struct Settings {
  std::optional<schedule::Strategy> strategy;  // none: mixed
  double pause_probability = 1;                // AtomFuzzer's q; mixed strategies try less, too
  std::uint32_t depth = 3;                     // PCT's d
  bool undeclared = false;  // also violations of blocks that nobody declared atomic
  bool learn = true;        // what matters, from some trials before the others
  bool accesses = true;     // memory accesses of instrumented code are switching points

  friend bool operator==(const Settings&, const Settings&) = default;
};

// No strategy finds everything: over a campaign all that can, get their share. Which one a trial
// has depends on nothing but its seed and what was learnt beforehand, so that a replay agrees.
// `worth_aiming`: it would have an aim that was not tried in vain before.
schedule::Strategy strategy_of(const Settings& settings, std::uint64_t seed,
                               bool worth_aiming = true);

// Whether the trial switches only where it matters, as far as that is known. Some do not: what is
// known may not be all.
bool uses_profile(const Settings& settings, schedule::Strategy strategy, std::uint64_t seed);

// What the scheduler is told for the trial with this seed.
schedule::Settings for_trial(const Settings& settings, std::uint64_t seed);

std::string_view to_string(schedule::Strategy strategy);  // "atomfuzzer"
std::optional<schedule::Strategy> strategy_called(std::string_view name);
// Those that a user can ask for.
const std::vector<schedule::Strategy>& strategies();

}  // namespace tomos::campaign
