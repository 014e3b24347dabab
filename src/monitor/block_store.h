// What the block analyses remember of a trace (Wang & Stoller, sections 6.1, 6.2 and 6.6).
//
// A transaction is looked at when it ends. Most have been seen before, step by step: then only its
// thread period is noted. A new one is taken apart into *accesses* (what, where, with which locks)
// and *blocks* (two of its accesses, and the locks held from the one to the other); equal ones are
// kept once. The whole shape is kept as well, so that what the blocks suspect can be checked
// against the transactions they come from: as long as there is room, and after that only if it
// brought a new access or block. So memory follows the number of distinct blocks, not of
// transactions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "event/event.h"
#include "monitor/context.h"
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

// Two accesses of a transaction, in its order: to one variable (1v) or to two (2v).
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

// Equal values get one number.
template <class T>
class Interned {
 public:
  // The number; made if it is new.
  std::uint32_t intern(const T& value);

  std::uint32_t size() const { return static_cast<std::uint32_t>(values_.size()); }
  const T& operator[](std::uint32_t id) const { return values_[id]; }

 private:
  std::vector<T> values_;
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(64);  // id + 1
};

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
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> newest_;  // by number
  std::unordered_map<std::uint32_t, PeriodSet> elsewhere_;
};

class BlockStore {
 public:
  struct Limits {
    std::size_t room = std::size_t{1} << 22U;    // steps and occurrences while all shapes are kept
    std::size_t buffer = std::size_t{1} << 12U;  // steps of a transaction before it is thinned out
    std::size_t blocks = std::size_t{1} << 25U;  // accesses and blocks before nothing new is kept
    std::size_t small = 400;                     // items of a run that is kept whole
    std::size_t wide = 64;  // 2v-blocks are made at once of up to so many accesses
  };

  // `two_variables`: whether to make 2v-blocks.
  BlockStore(const AnalysisOptions& options, bool two_variables, Limits limits)
      : context_(options),
        recorder_(limits.small),
        two_variables_(two_variables),
        limits_(limits) {}

  void on_events(std::span<const Event> events);
  void finish();  // ends the transactions that are still open

  const Context& context() const { return context_; }
  Locksets& locksets() { return context_.locksets(); }

  // The whole run, if it is short.
  const SmallRun* small_run() const { return recorder_.run(); }

  std::span<const Shape> shapes() const { return shapes_; }
  const Interned<BlockAccess>& accesses() const { return accesses_; }
  const Interned<Block>& blocks() const { return blocks_; }
  const Occurrences& access_occurrences() const { return access_occurrences_; }
  const Occurrences& block_occurrences() const { return block_occurrences_; }
  // All periods in which an access or block occurs.
  PeriodSet periods(const Occurrences& occurrences, std::uint32_t id) const;

  // Shapes whose 2v-blocks were too many to make them all; ask for those of interest.
  std::span<const ShapeId> wide() const { return wide_; }
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
  BlockId add_block(ShapeId shape, const Site& first, const Site& second, LocksetId across);

 private:
  struct Open {
    bool active = false;
    PeriodId period = 0;
    Shape shape;
    std::size_t thin_at = 0;
  };
  // One access of a transaction: the variable, the step.
  struct Use {
    SharedId variable;
    std::uint32_t step;
  };
  using Uses = std::vector<Use>;  // by variable, then in order

  Open& open(ThreadId thread);
  void step(const Event& event, bool access);
  void close(ThreadId thread);
  void take_apart(const Shape& shape, PeriodId period, std::size_t slot);
  static Uses uses(const Shape& shape);
  void thin_out(Shape& shape);
  std::size_t find(const Shape& shape) const;
  void grow();

  Context context_;
  RunRecorder recorder_;
  bool two_variables_;
  Limits limits_;
  std::vector<Open> open_;  // by thread
  std::vector<Shape> shapes_;
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(1024);  // shapes, ShapeId + 1
  std::uint64_t now_ = 0;                                                // transactions so far
  std::size_t taken_ = 0;                                                // of the room
  Interned<BlockAccess> accesses_;
  Interned<Block> blocks_;
  Occurrences access_occurrences_;
  Occurrences block_occurrences_;
  std::vector<ShapeId> wide_;
  bool lost_ = false;
};

}  // namespace tomos
