// Random valid traces.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "event/event.h"
#include "event/names.h"

namespace tomos::oracle {

using Trace = std::vector<Event>;

// Trace number `index` of a seed: the same on every machine, whatever came before it.
Trace random_trace(std::uint64_t seed, std::uint64_t index);

// Gives every event a location of its own (its number from 1), and every begin a label of its own.
void number_events(Trace& trace);

// Names of everything that occurs in random traces: T0, V0, L0, B0, a1.
const Names& names();

std::string to_std(const Trace& trace);

}  // namespace tomos::oracle
