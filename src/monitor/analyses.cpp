#include "monitor/analyses.h"

#include <array>

#include "monitor/blocks.h"
#include "monitor/conflict_graph.h"
#include "monitor/lock_order.h"
#include "monitor/races.h"
#include "monitor/reduction.h"
#include "monitor/reduction_online.h"
#include "monitor/summarized.h"
#include "monitor/vector_clock.h"

namespace tomos {

namespace {

template <class M>
std::unique_ptr<Monitor> make(const AnalysisOptions& options) {
  return std::make_unique<M>(options);
}

template <Blocks::Scope scope>
std::unique_ptr<Monitor> make_blocks(const AnalysisOptions& options) {
  return std::make_unique<Blocks>(options, scope);
}

constexpr std::array kAnalyses = {
    Analysis{.name = "conflict-graph",
             .says = "the trace is not conflict-serializable (the whole graph)",
             .make = make<ConflictGraph>,
             .predicts = false},
    Analysis{.name = "summarized",
             .says = "the same verdict, in space that does not depend on the trace's length",
             .make = make<Summarized>,
             .predicts = false},
    Analysis{.name = "vector-clock",
             .says = "the same verdict, in one linear pass",
             .make = make<VectorClock>,
             .predicts = false},
    Analysis{.name = "reduction-online",
             .says = "the online reduction (locksets, Theorem 1, section 5.5)",
             .make = make<ReductionOnline>,
             .assumes_no_deadlock = true,
             .counts_repeats = true},
    Analysis{.name = "reduction",
             .says = "the offline reduction (Theorem 2, multilockset, escape, "
                     "happens-before)",
             .make = make<Reduction>,
             .assumes_no_deadlock = true,
             .order_free = true},
    Analysis{.name = "blocks-1v",
             .says = "blocks of one variable (Theorem 3)",
             .make = make_blocks<Blocks::Scope::kOneVariable>,
             .assumes_no_deadlock = true,
             .counts_repeats = true},
    Analysis{.name = "blocks",
             .says = "blocks of two transactions (Theorem 4)",
             .make = make_blocks<Blocks::Scope::kTwoTransactions>,
             .assumes_no_deadlock = true,
             .order_free = true,
             .pairs_only = true},
    Analysis{.name = "blocks-all",
             .says = "any number of transactions and variables (Theorem 5)",
             .make = make_blocks<Blocks::Scope::kAll>,
             .assumes_no_deadlock = true,
             .counts_repeats = true},
    Analysis{.name = "races",
             .says = "low-level races, by the detectors that --races names",
             .make = make<Races>},
    Analysis{.name = "lock-order",
             .says = "deadlock, by the order in which locks are acquired (goodlock)",
             .make = make<LockOrder>,
             .order_free = true},
};

}  // namespace

std::span<const Analysis> analyses() { return kAnalyses; }

}  // namespace tomos
