// Cycles through three or more transactions (Wang & Stoller, section 6.3), in runs that are too
// long to be judged as a whole (serializability_solver.h).
//
// In a cycle of conflicts, the transaction that has its first event is cut: it is left by that
// event and entered by a later one, and what enters it comes in between. So the search starts from
// every two accesses between which that can happen, and goes from the first to the second through
// transactions that conflict, or that one thread runs one after the other. If there is no way,
// there is no violation. Every way that is found is put to the solver, as a small set of
// transactions.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "monitor/analyses.h"
#include "monitor/block_compare.h"
#include "monitor/block_store.h"
#include "monitor/small_run.h"
#include "monitor/violations.h"

namespace tomos {

class BlockCycles {
 public:
  BlockCycles(BlockStore& store, BlockCompare& compare, const AnalysisOptions& options,
              Violations& violations)
      : store_(store), compare_(compare), options_(options), violations_(violations) {}

  void search();

  // Why the search is not complete; empty if it is.
  const std::string& gave_up() const { return gave_up_; }

 private:
  // An access of a shape that others can conflict with.
  struct Place {
    ShapeId shape;
    std::uint32_t step;
    AccessId access;
  };
  struct Node {
    ShapeId shape;
    bool by_order;  // entered by its thread's order from the node before, not by a conflict
  };

  bool spend(std::uint64_t steps);
  const BlockAccess& access(AccessId id) const { return store_.accesses()[id]; }
  bool may_conflict(const Place& a, const Place& b);
  bool conflict_at_all(ShapeId a, ShapeId b);
  bool may_follow(ShapeId a, ShapeId b) const;
  void index();
  void extend(const Place& target);
  void extend(const Node& node, const Place& target);
  bool closes(ShapeId shape, const Place& target);
  void append(SmallRun& run, ShapeId id, PeriodId period);
  void judge_path();
  bool choose_periods(std::vector<PeriodId>& chosen) const;

  BlockStore& store_;
  BlockCompare& compare_;
  const AnalysisOptions& options_;
  Violations& violations_;
  std::vector<std::vector<Place>> places_of_;                   // by shape
  std::vector<std::vector<Place>> places_among_;                // by variable
  std::vector<Node> path_;                                      // from the transaction that is cut
  std::unordered_map<std::uint64_t, bool> conflicts_;           // of two shapes
  std::set<std::vector<std::pair<ShapeId, PeriodId>>> judged_;  // sets of transactions
  std::uint64_t spent_ = 0;
  std::string gave_up_;
};

}  // namespace tomos
