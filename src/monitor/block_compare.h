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
  const std::string& gave_up() const { return gave_up_; }

  // Whether some access that conflicts with `access` can, as far as locks tell, come while `across`
  // is held.
  bool can_be_cut(LocksetId across, const BlockAccess& access);

 private:
  using Pair = std::pair<PeriodId, PeriodId>;

  void index();
  bool excluded(LocksetId a, LocksetId b);
  bool spend(std::uint64_t steps);
  const std::optional<Pair>& concurrent(ShapeId a, ShapeId b);

  template <class Entry, class Want, class Report>
  bool look_for(const Interned<Block>::Entry& block, const Entry& other, Want want, Report report);
  void make_wide_blocks();
  void compare_group(std::span<const BlockId> group);

  CycleEvent event_of(AccessId id, ThreadId thread, std::uint64_t transaction,
                      std::uint64_t index) const;

  BlockStore& store_;
  const AnalysisOptions& options_;
  Violations& violations_;
  std::vector<std::vector<AccessId>> accesses_of_;  // by variable
  std::unordered_map<std::uint64_t, bool> excluded_;
  std::unordered_map<std::uint64_t, std::optional<Pair>> concurrent_;
  std::unordered_map<std::uint64_t, bool> can_be_cut_;
  std::unordered_map<std::uint64_t, std::uint64_t> reported_;
  std::uint64_t spent_ = 0;
  std::string gave_up_;
};

}  // namespace tomos
