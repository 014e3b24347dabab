// The comparison of blocks (Wang & Stoller, Theorems 3 and 4), corrected.
//
// Two transactions t and t' are not atomic iff some interleaving differs, in what is read or in
// what is last written, both from t before t' and from t' before t. Each difference is an order
// between two conflicting accesses, so the cases can be told on one hand (docs/prediction.md):
//
//   on one variable   write - WRITE' - read      the read sees the other's write
//                     read  - WRITE' - read      two initial reads see different values
//                     write - READ'  - write     an initial read sees what was not final
//                     read  - WRITE' - write     an initial read, and two final writes
//   on two variables  x' before x, and y before y', each pair an initial read and a final write, or
//                     two final writes
//
// The paper's patterns say less about which reads and writes count, which raises false alarms. A
// suspicion by locks alone is checked against the two transactions themselves (pair_order.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "monitor/analyses.h"
#include "monitor/block_store.h"
#include "monitor/violations.h"

namespace tomos {

class BlockCompare {
 public:
  BlockCompare(BlockStore& store, const AnalysisOptions& options, Violations& violations)
      : store_(store), options_(options), violations_(violations) {}

  // Asked before a violation is reported that depends on the last write of the variable: whether
  // it can be seen, other transactions considered.
  std::function<bool(SharedId)> is_visible = [](SharedId) { return true; };

  void one_variable();
  void two_variables();

  // Why the comparison is not complete; empty if it is.
  std::string gave_up() const {
    if (!gave_up_.empty()) return gave_up_;
    if (store_.lost()) return "there are too many different transactions to keep them all";
    return left_open_ ? "a suspicion fits too many transactions to try them all" : "";
  }

  // Whether some access that conflicts with `access` can, as far as locks tell, come while `across`
  // is held.
  bool can_be_cut(LocksetId across, const BlockAccess& access);
  // Whether transactions of these shapes ran in concurrent periods.
  bool are_concurrent(ShapeId a, ShapeId b) { return concurrent(a, b).has_value(); }

 private:
  using Pair = std::pair<PeriodId, PeriodId>;

  // Accesses of one variable that differ only in where they are; blocks of the same variables
  // likewise. What locks and patterns have to say about one they say about all.
  struct AccessClass {
    std::vector<AccessId> members;
    PeriodSet periods;
  };
  struct BlockClass {
    std::vector<BlockId> members;
    PeriodSet periods;
  };

  void index();
  std::vector<BlockClass> classes(std::span<const BlockId> blocks) const;
  bool spend(std::uint64_t steps);
  const std::optional<Pair>& concurrent(ShapeId a, ShapeId b);
  std::span<const AccessClass> accesses_of(SharedId variable) const {
    const auto at = accesses_of_.find(variable);
    return at == accesses_of_.end() ? std::span<const AccessClass>() : at->second;
  }
  const BlockAccess& access(AccessId id) const { return store_.accesses()[id]; }
  const BlockAccess& first(BlockId id) const { return access(store_.blocks()[id].first); }
  const BlockAccess& second(BlockId id) const { return access(store_.blocks()[id].second); }

  template <class Want, class Report>
  void look_for(BlockId block, const Occurrences& others, std::uint32_t other, Want want,
                Report report);
  void compare_with_accesses(std::span<const BlockId> blocks);
  void compare_with_blocks(std::span<const BlockId> blocks);
  void compare(const BlockClass& own, const AccessClass& others);
  void compare(const BlockClass& own, const BlockClass& others, bool nested);
  void make_wide_blocks();

  CycleEvent event_of(AccessId id, ThreadId thread, std::uint64_t transaction,
                      std::uint64_t index) const;

  BlockStore& store_;
  const AnalysisOptions& options_;
  Violations& violations_;
  std::unordered_map<SharedId, std::vector<AccessClass>> accesses_of_;
  std::unordered_map<std::uint64_t, std::optional<Pair>> concurrent_;
  std::unordered_map<std::uint64_t, bool> can_be_cut_;
  std::unordered_map<std::uint64_t, std::size_t> reported_;
  std::uint64_t spent_ = 0;
  std::uint64_t limit_ = kBudget;
  std::string gave_up_;     // and stopped
  bool left_open_ = false;  // one suspicion at least

  // Comparisons of two blocks, and places on the grids of pair_order.h: in all, and after there are
  // more findings than anybody wants to see.
  static constexpr std::uint64_t kBudget = 1'000'000'000;
  static constexpr std::uint64_t kAfterLimit = 20'000'000;
};

}  // namespace tomos
