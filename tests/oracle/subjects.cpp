#include "subjects.h"

#include <algorithm>
#include <array>
#include <memory>

#include "monitor/vector_clock.h"

namespace tomos::oracle {

namespace {

constexpr std::array<std::string_view, 3> kMonitors{"conflict-graph", "summarized", "vector-clock"};

std::unique_ptr<Monitor> make_tight(const AnalysisOptions& options) {
  const Frontier::Limits limits{.last_position = 4, .edges = 1, .closed_slots = 1000};
  return std::make_unique<VectorClock>(options, limits, Locksets(0));
}

std::unique_ptr<Monitor> make_swept(const AnalysisOptions& options) {
  const Frontier::Limits limits{.last_position = 9, .edges = 1, .closed_slots = 0};
  return std::make_unique<VectorClock>(options, limits, Locksets(0));
}

}  // namespace

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all = [] {
    std::vector<Subject> result;
    for (const Analysis& analysis : analyses()) {
      if (std::ranges::count(kMonitors, analysis.name) > 0)
        result.push_back({.analysis = analysis});
    }
    result.push_back({.analysis = {.name = "vector-clock-tight", .says = "", .make = make_tight}});
    result.push_back({.analysis = {.name = "vector-clock-swept", .says = "", .make = make_swept},
                      .whole_cycles = false});
    return result;
  }();
  return all;
}

}  // namespace tomos::oracle
