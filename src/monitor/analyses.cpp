#include "monitor/analyses.h"

#include <array>

#include "monitor/conflict_graph.h"
#include "monitor/summarized.h"
#include "monitor/vector_clock.h"

namespace tomos {

namespace {

template <class M>
std::unique_ptr<Monitor> make(const AnalysisOptions& options) {
  return std::make_unique<M>(options);
}

constexpr std::array kAnalyses = {
    Analysis{.name = "conflict-graph",
             .says = "observed: the trace is not conflict-serializable (the whole graph)",
             .make = make<ConflictGraph>},
    Analysis{.name = "summarized",
             .says = "the same verdict, in space that does not depend on the trace's length",
             .make = make<Summarized>},
    Analysis{.name = "vector-clock",
             .says = "the same verdict, in one linear pass",
             .make = make<VectorClock>},
};

}  // namespace

std::span<const Analysis> analyses() { return kAnalyses; }

}  // namespace tomos
