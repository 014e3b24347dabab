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
#include "monitor/block_pairs.h"
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

  // Accesses of one variable, or blocks of the same variables, at the same places: what is found of
  // one is found of all, so one is looked for. They differ in the locks held, and those with the
  // same locks are a class: what patterns and locks have to say about one they say about all.
  struct Locks {
    LocksetId first;
    LocksetId second;
    LocksetId across;
  };
  struct Class {
    std::vector<std::uint32_t> members;  // AccessId or BlockId
    PeriodSet periods;
  };
  struct Group {
    std::vector<Class> classes;
    PeriodSet periods;
    Locks always;  // held in all of them
    std::uint32_t any() const { return classes[0].members[0]; }
  };
  class Grouping;
  // The locks held at the two accesses of a block that was found.
  struct Own {
    LocksetId first;
    LocksetId second;
  };
  // How some accesses of a variable are locked.
  struct Hold {
    SharedId variable;
    LocksetId held;
    bool writes;
    friend auto operator<=>(const Hold&, const Hold&) = default;
  };

  void index();
  void index_accesses();
  std::vector<Group> groups(std::span<const AccessId> accesses) const;
  std::vector<Group> block_groups(std::span<const BlockId> blocks) const;
  bool spend(std::uint64_t steps);
  const std::optional<Pair>& concurrent(ShapeId a, ShapeId b);
  std::span<const AccessId> accesses_of(SharedId variable) const;
  const BlockAccess& access(AccessId id) const { return store_.accesses()[id]; }
  const BlockAccess& first(BlockId id) const { return access(store_.blocks()[id].first); }
  const BlockAccess& second(BlockId id) const { return access(store_.blocks()[id].second); }
  Locks locks_of(BlockId id) const {
    return {
        .first = first(id).held, .second = second(id).held, .across = store_.blocks()[id].across};
  }

  template <class Want, class Report>
  void look_for(BlockId block, const Occurrences& others, std::uint32_t other, Want want,
                Report report);
  template <class Fits, class Key, class Look>
  void compare(const Group& own, const Group& others, Fits fits, Key key, Look look);
  void compare_with_accesses(std::span<const BlockId> blocks);
  void compare_with_blocks(std::span<const BlockId> blocks);
  bool can_cross(BlockId own, const Locks& ours, BlockId other, const Locks& its, bool nested);
  void compare(const Group& own, const Group& others);
  void compare(const Group& own, const Group& others, bool nested);
  void compare_variables();
  void compare_pairs(const BlockStore::Range& range);
  // A transaction with several variables of which 2v-blocks are made.
  struct Wide {
    std::vector<BlockStore::Site> sites;
    BlockPairs::Threads threads;  // that ran it
    bool locks;                   // it holds some, now and then
  };
  void find_sites();
  std::vector<std::uint32_t> wide_in(const BlockStore::Range& range) const;
  template <class Visit>
  void for_each_pair(std::size_t wide, const BlockStore::Range& range, Visit visit);
  void make_wide_blocks(const BlockStore::Range& range);

  CycleEvent event_of(AccessId id, ThreadId thread, std::uint64_t transaction,
                      std::uint64_t index) const;

  BlockStore& store_;
  const AnalysisOptions& options_;
  Violations& violations_;
  std::vector<AccessId> by_variable_;  // all accesses
  std::vector<Hold> holds_;            // sorted
  std::vector<Wide> wide_;             // as in store_.wide()
  // By variable: which of them have sites of it.
  std::vector<std::uint32_t> wide_of_;
  std::vector<std::uint32_t> first_wide_of_;
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
