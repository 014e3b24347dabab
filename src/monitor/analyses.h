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

struct AnalysisOptions {
  Edges edges = Edges::kData;
  std::size_t max_findings = 1000;  // distinct findings kept for each analysis
  // Where to put the number of every event that closes a cycle, for those who ask (a clone appends
  // to the same vector).
  std::vector<std::uint64_t>* violating_events = nullptr;
};

struct Analysis {
  std::string_view name;
  std::string_view says;  // one line for --help
  std::unique_ptr<Monitor> (*make)(const AnalysisOptions&);
};

std::span<const Analysis> analyses();

}  // namespace tomos
