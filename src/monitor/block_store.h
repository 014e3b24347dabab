// What the block analyses remember of a trace (Wang & Stoller, sections 6.1, 6.2 and 6.6).
//
// A transaction is looked at when it ends. Most have been seen before, step by step: then only its
// thread period is noted. A new one is kept, and at the end of the trace taken apart into
// *accesses* (what, where, with which locks) and *blocks* (two of its accesses, and the locks held
// from the one to the other), as far as somebody can cut them: what is known of all transactions by
// then leaves little to do. Equal accesses and blocks are kept once. Transactions with a single
// access are kept apart (lone_accesses.h).
//
// When there is no more room to wait for the end, everything is taken apart at once, and from then
// on a transaction is kept only if it brings a new access or block. So memory follows the number
// of distinct blocks, not of transactions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "event/event.h"
#include "monitor/block_vector.h"
#include "monitor/context.h"
#include "monitor/interned.h"
#include "monitor/kept_transactions.h"
#include "monitor/lone_accesses.h"
#include "monitor/small_run.h"
#include "monitor/transaction_shape.h"

namespace tomos {

using AccessId = std::uint32_t;
using BlockId = std::uint32_t;

// An access as a part of a transaction.
struct BlockAccess {
  // Whether no write of the variable precedes it in its transaction, or follows.
  static constexpr std::uint8_t kInitialRead = 1;
  static constexpr std::uint8_t kFinalWrite = 2;

  SharedId variable;
  LocationId location;
  LocksetId held;
  LabelId label;
  LocationId begin;
  Op op;
  std::uint8_t flags = 0;

  bool is_write() const { return op == Op::kWrite; }
  bool is_initial_read() const { return (flags & kInitialRead) != 0; }
  bool is_final_write() const { return (flags & kFinalWrite) != 0; }
  friend bool operator==(const BlockAccess&, const BlockAccess&) = default;
};

inline bool conflict(const BlockAccess& a, const BlockAccess& b) {
  return a.variable == b.variable && (a.is_write() || b.is_write());
}

// Two accesses of a transaction, in its order: to one variable (1v) or to two (2v). Who compares
// 1v-blocks asks only for the locks held across. So, if all shapes were kept, those whose accesses
// differ in nothing but their locks are one, with any of the accesses; a server with a lock for
// each of its items would have hundreds of times as many.
struct Block {
  AccessId first;
  AccessId second;
  LocksetId across;  // held from the one to the other

  friend bool operator==(const Block&, const Block&) = default;
};

// Where an access or a block is found.
struct Occurrence {
  ShapeId shape;
  std::uint32_t first;   // step
  std::uint32_t second;  // step; the same for an access
};

std::uint64_t hash_of(const BlockAccess& access);
std::uint64_t hash_of(const Block& block);

// For each number, where it occurs in kept shapes, and the periods of transactions that were not
// kept.
class Occurrences {
 public:
  void add(std::uint32_t id, const Occurrence& at) {
    if (id >= newest_.size()) newest_.resize(id + std::size_t{1}, kNone);
    nodes_.push_back({.at = at, .older = newest_[id]});
    newest_[id] = static_cast<std::uint32_t>(nodes_.size() - 1);
  }
  PeriodSet& elsewhere(std::uint32_t id) { return elsewhere_[id]; }

  // The oldest first.
  std::vector<Occurrence> of(std::uint32_t id) const;
  // In any order.
  template <class Visit>
  void for_each(std::uint32_t id, Visit visit) const {
    if (id >= newest_.size()) return;
    for (std::uint32_t node = newest_[id]; node != kNone; node = nodes_[node].older) {
      visit(nodes_[node].at);
    }
  }
  const PeriodSet* elsewhere_of(std::uint32_t id) const {
    const auto at = elsewhere_.find(id);
    return at == elsewhere_.end() ? nullptr : &at->second;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Node {
    Occurrence at;
    std::uint32_t older;
  };
  BlockVector<Node> nodes_;
  std::vector<std::uint32_t> newest_;  // by number
  std::unordered_map<std::uint32_t, PeriodSet> elsewhere_;
};

// What violations are looked for: on each variable for itself, between any two transactions, or
// among all of them, where every transaction counts.
enum class BlockScope : std::uint8_t { kOneVariable, kTwoTransactions, kAll };

class BlockStore {
 public:
  struct Limits {
    std::size_t room = std::size_t{1} << 22U;    // steps and occurrences while all shapes are kept
    std::size_t buffer = std::size_t{1} << 12U;  // steps of a transaction before it is thinned out
    std::size_t blocks = std::size_t{1} << 25U;  // accesses and blocks before nothing new is kept
    std::size_t small = 400;                     // items of a run that is kept whole
    std::size_t wide = 64;  // 2v-blocks are made at once of up to so many accesses
  };
  BlockStore(const AnalysisOptions& options, BlockScope scope, Limits limits)
      : context_(options),
        recorder_(limits.small),
        scope_(scope),
        limits_(limits),
        waits_(scope != BlockScope::kAll && limits.room > 0) {}

  void on_events(std::span<const Event> events);
  void finish();  // the trace is over; what follows can be asked afterwards

  const Context& context() const { return context_; }
  Locksets& locksets() { return context_.locksets(); }

  // The whole run, if it is short.
  const SmallRun* small_run() const { return recorder_.run(); }

  std::uint32_t shapes() const {
    return static_cast<std::uint32_t>(chosen_.size() + shapes_.size());
  }
  const Shape& shape(ShapeId id);  // if is_whole(), valid until the next call
  PeriodSet periods(ShapeId id) const;
  const Interned<BlockAccess>& accesses() const { return accesses_; }
  const Interned<Block>& blocks() const { return blocks_; }
  const Occurrences& access_occurrences() const { return access_occurrences_; }
  const Occurrences& block_occurrences() const { return block_occurrences_; }
  // All periods in which an access or block occurs.
  PeriodSet periods(const Occurrences& occurrences, std::uint32_t id) const;

  // Whether a lock is held when a transaction begins or ends.
  bool locks_span_transactions() const { return locks_span_transactions_; }

  // Shapes of which not all 2v-blocks were made; ask for those of interest.
  std::span<const ShapeId> wide() const { return wide_; }

  // Whether all shapes were kept until the end. Then nothing has been taken apart: that is done for
  // some variables at a time, to spare memory.
  bool is_whole() const { return waits_; }
  // From this variable up to, not including, that.
  struct Range {
    SharedId first;
    SharedId end;
  };
  // Ranges of all variables, with not too many accesses in each, or not too many pairs of an access
  // with others.
  std::vector<Range> batches(bool pairs);
  // Makes the accesses and 1v-blocks of these variables, instead of what there was.
  void take_apart(const Range& range);
  void forget_blocks();
  // Whether there was no room for some transactions.
  bool lost() const { return lost_; }
  // The accesses of a shape that can be part of a 2v-block, in order: initial reads (the first and
  // the last) and final writes.
  struct Site {
    std::uint32_t step;
    AccessId access;
  };
  std::vector<Site> sites(const Shape& shape);
  // Makes a block of two accesses of a kept shape.
  void add_block(ShapeId shape, const Site& first, const Site& second, LocksetId across);

 private:
  static constexpr PeriodId kNoPeriod = ~PeriodId{0};
  static constexpr Range kAllVariables = {.first = 0, .end = ~SharedId{0}};
  struct Open {
    bool active = false;
    PeriodId period = 0;
    PeriodId run_of = kNoPeriod;  // the period ...
    PeriodSet::Run run = {};      // ... that this is
    Shape shape;
    std::size_t thin_at = 0;
  };
  // One access of a transaction: the variable, the step.
  struct Use {
    SharedId variable;
    std::uint32_t step;
  };
  using Uses = std::vector<Use>;  // by variable, then in order
  // What a shape is made of: numbers, and the steps.
  struct Parts {
    std::vector<std::pair<AccessId, std::uint32_t>> accesses;
    std::vector<std::tuple<BlockId, std::uint32_t, std::uint32_t>> blocks;
  };
  // What is known of a variable.
  struct Known {
    bool freed = false;
    bool in_block = false;  // in a transaction with several accesses
    // As far as is known before the end:
    bool can_be_cut = true;     // there may be a violation on it
    bool can_be_paired = true;  // there may be a violation on it and another variable
  };

  Open& open(ThreadId thread);
  void step(const Event& event, bool access);
  void close(ThreadId thread);
  const PeriodSet::Run& run_of(Open& open) const;
  void close_lone(Open& open, std::size_t step);
  void forget_lone();
  Known& known(SharedId variable);
  void freed(VariableId variable);

  std::span<const PeriodSet::Run> runs(ShapeId id) const;
  bool no_room();
  bool has_pairs(const Shape& shape) const;
  void mark_blocks(const Shape& shape);
  ShapeId keep(const Shape& shape, std::size_t slot);
  void merge(const Shape& shape);
  void keep_parts(ShapeId id, const Parts& parts);
  Parts take_apart(const Shape& shape, Range range = kAllVariables);
  void take_apart_pairs(const Shape& shape, const std::vector<Site>& sites, Parts& parts);
  void take_apart_now(const Shape& shape, PeriodId period, std::size_t slot);
  void stop_waiting();
  void judge_variables(std::span<const LoneAccesses::Access> lone);
  void reduce(std::span<const LoneAccesses::Access> lone);
  bool leave_to_others(std::span<const LoneAccesses::Access> lone);
  void add_lone(std::span<const LoneAccesses::Access> lone);
  AccessId any_locks(AccessId id);
  Uses uses(const Shape& shape, bool Known::* wanted, Range range = kAllVariables) const;
  void thin_out(Shape& shape);
  std::size_t find(const Shape& shape) const;
  void grow();

  Context context_;
  RunRecorder recorder_;
  BlockScope scope_;
  Limits limits_;
  bool waits_;                         // for the end, before anything is taken apart
  std::vector<Open> open_;             // by thread
  KeptTransactions kept_;              // while waiting
  std::vector<std::uint32_t> chosen_;  // those of them, in the end, that are the first shapes
  std::vector<Shape> shapes_;          // the others
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(1024);  // shapes, ShapeId + 1
  LoneAccesses lone_;
  std::vector<Known> known_;  // by variable
  std::uint64_t now_ = 0;     // transactions so far
  std::size_t taken_ = 0;     // of the room
  Interned<BlockAccess> accesses_;
  Interned<BlockAccess> lockless_;    // the same, but for the locks
  std::vector<AccessId> stands_for_;  // each of those, in blocks
  Interned<Block> blocks_;
  Occurrences access_occurrences_;
  Occurrences block_occurrences_;
  std::vector<ShapeId> wide_;
  bool lost_ = false;
  bool locks_span_transactions_ = false;
};

}  // namespace tomos
