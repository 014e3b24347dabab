// The analyses by name: what `--analysis` can choose from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "event/monitor.h"

namespace tomos {

enum class Edges : std::uint8_t {
  kData,  // reads and writes of different threads, and each thread's own order
  kSync,  // also release to acquire, fork and join
};

// How `races` looks for data races (Wang & Stoller, section 5.4).
enum class RaceDetector : std::uint8_t { kEraser, kObject, kAtomizer, kMultilockset };

struct AnalysisOptions {
  Edges edges = Edges::kData;
  std::size_t max_findings = 1000;  // distinct findings kept for each analysis
  // Where to put the number of every event that closes a cycle, for those who ask (a clone appends
  // to the same vector).
  std::vector<std::uint64_t>* violating_events = nullptr;

  // The predictive analyses' improvements, to be switched off one by one when they are measured.
  bool escape = true;          // accesses to variables that have not escaped are left out
  bool happens_before = true;  // fork, join and barrier order thread periods
  bool multilockset = true;    // races by multilockset; if not, by the older lockset algorithms
  bool acq_a_rel = true;       // Theorem 2 instead of Theorem 1

  std::vector<RaceDetector> races = {RaceDetector::kMultilockset};  // what `races` runs

  // Asked now and then by what takes long: whether to give up, with the verdict unknown.
  bool (*stop)() = nullptr;
};

struct Analysis {
  std::string_view name;
  std::string_view says;  // one line for --help
  std::unique_ptr<Monitor> (*make)(const AnalysisOptions&);
  bool predicts = true;              // what other schedules could do; false: judges the run
  bool assumes_no_deadlock = false;  // its verdict is worth little where lock-order finds one
  bool order_free = false;           // asks what transactions there are, not how often or in what
                                     // order they ran (tests/filter)
  bool pairs_only = false;           // asks only what two transactions do to each other
  bool counts_repeats = false;       // repeats that tell the others nothing can change its verdict
};

std::span<const Analysis> analyses();

}  // namespace tomos
