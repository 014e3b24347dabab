// High-level anomalies: transactions that should be one.
//
// The paper's three patterns (patterns.h) ask what is read and written and nothing else, and nearly
// half of what they report is wrong. We ask for more, see anomalies.cpp; and pairs that belong
// together become one region to merge, the paper's "main anomaly" for more than two.
#pragma once

#include <string>
#include <vector>

#include "tm/patterns.h"
#include "tm/traces.h"

namespace tomos::tm {

std::vector<Anomaly> find_anomalies(const Traces& traces);

// Where a transaction stands in the function that has to be changed: itself, or the call that leads
// to it.
struct Part {
  TransactionId transaction = 0;
  Position position;
};

struct Region {
  std::string function;            // that all parts are in
  std::vector<Part> parts;         // two or more, in the order of the source
  std::vector<Anomaly> anomalies;  // each once for every pair of parts and what comes between
};

// Anomalies of the same parts are one region; with `merge`, so are those that share one.
std::vector<Region> regions_of(const Program& program, const Traces& traces,
                               const std::vector<Anomaly>& anomalies, bool merge);

// Low-level races: section 2. Transactions are critical sections of one lock.
struct Race {
  Access one;  // outside of transactions
  Access other;
};
std::vector<Race> find_races(const Traces& traces);

}  // namespace tomos::tm
