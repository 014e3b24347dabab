// Makes a schedule simpler while it still shows what it shows.
//
// A schedule is the choices that differ from "whoever runs goes on". Fewer preemptions make it
// easier to understand why something went wrong. First all behind the last choice that matters
// goes, found by bisection; then choices go in ever smaller pieces (as delta debugging does:
// Zeller, Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002), the preempting
// ones first.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "campaign/trial.h"

namespace tomos::campaign {

// Runs the choices; if the trial shows it, the choices that it really made (some that were asked
// for may not have come up) and the hash.
struct Shown {
  std::vector<schedule::Choice> choices;
  std::uint64_t hash = 0;
};
using Attempt = std::function<std::optional<Shown>(const std::vector<schedule::Choice>& choices)>;

struct Budget {
  unsigned attempts = 200;
  std::chrono::milliseconds time{10'000};
};

Shown minimise(Shown start, const Attempt& attempt, const Budget& budget);

// Whether a thread that could have gone on was kept from it.
bool is_preemption(const schedule::Choice& choice);
std::size_t preemptions(const std::vector<schedule::Choice>& choices);

}  // namespace tomos::campaign
