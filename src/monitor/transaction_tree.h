// Transactions as trees (Wang & Stoller, section 5.6), to be judged when the whole run is known.
//
// A node of the paper's tree is a synchronized block: its lock, the blocks inside it, and the
// variables accessed once or more than once. Here a node is the list of its *steps*, in order:
// acquire, accesses and inner blocks, release. Locks in C++ need not nest (hand over hand, kept
// over the end of the transaction): an acquire or release that does not belong to a block is a step
// among the others.
//
// Equal nodes are kept once, and what a loop repeats is left out: of all steps of a node with the
// same variable, inner block or lock, only the first and the last are kept. That loses nothing. A
// transaction is not of the form if some step that ends the first phase (L or N) comes before one
// that the second phase does not allow (R or N). If it is so for two steps, it is so for the first
// of those like the one and the last of those like the other. (The paper keeps "once" or "several
// times", and no order; that says the same as long as all locks nest.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "event/event.h"
#include "monitor/locksets.h"
#include "monitor/shared_variables.h"

namespace tomos {

using TreeNodeId = std::uint32_t;

struct TreeStep {
  enum class Kind : std::uint8_t {
    kRead,         // object: variable
    kWrite,        // object: variable
    kAcquire,      // object: lock
    kReadAcquire,  // object: lock
    kRelease,      // object: lock
    kReadRelease,  // object: lock
    kBlock,        // object: node; a synchronized block
    kBegin,        // object: label; the first step of a transaction
    kHeld,         // object: lock set; what is held when it begins, if anything
  };
  std::uint32_t object;
  LocationId location;
  Kind kind;
  // An acquire of which nobody knows yet whether it begins a block.
  std::uint8_t is_open = 0;

  friend bool operator==(const TreeStep&, const TreeStep&) = default;

  bool is_access() const { return kind == Kind::kRead || kind == Kind::kWrite; }
  bool is_acquire() const { return kind == Kind::kAcquire || kind == Kind::kReadAcquire; }
  bool is_release() const { return kind == Kind::kRelease || kind == Kind::kReadRelease; }
};

// A transaction: how often it was met.
struct TransactionTree {
  TreeNodeId node = 0;
  ThreadId thread = 0;      // of the first one
  std::uint64_t first = 0;  // its number
  std::uint64_t count = 0;
};

class TransactionForest {
 public:
  // The node with these steps; inner blocks are nodes already.
  TreeNodeId intern(std::span<const TreeStep> steps);
  void add(std::span<const TreeStep> steps, ThreadId thread, std::uint64_t number);

  std::span<const TreeStep> steps(TreeNodeId node) const {
    return std::span(steps_).subspan(nodes_[node].first, nodes_[node].size);
  }
  std::size_t nodes() const { return nodes_.size(); }
  std::size_t size() const { return steps_.size(); }  // in steps
  std::span<const TransactionTree> trees() const { return trees_; }

  // Forgets the trees whose entry in `keep` is false, and every node that neither the others nor
  // `in_use` need. Nodes get new numbers, those in `in_use` as well.
  void retain(const std::vector<bool>& keep, std::span<const std::span<TreeStep>> in_use);

 private:
  static constexpr std::uint32_t kNoTree = ~0U;
  struct Node {
    std::size_t first;  // of its steps
    std::uint32_t size;
    std::uint32_t tree = kNoTree;
  };
  void rehash(std::size_t slots);

  std::vector<TreeStep> steps_;
  std::vector<Node> nodes_;
  struct Slot {
    std::uint32_t node = 0;  // + 1
    std::uint32_t tag = 0;   // of the hash: spares most looks at the node itself
  };
  std::vector<Slot> slots_ = std::vector<Slot>(1024);
  std::vector<TransactionTree> trees_;
};

// The transaction that a thread is in.
class TransactionBuilder {
 public:
  void begin(LabelId label, LocationId location, LocksetId held);

  void access(SharedId variable, Op op, LocationId location) {
    push({.object = variable,
          .location = location,
          .kind = op == Op::kWrite ? TreeStep::Kind::kWrite : TreeStep::Kind::kRead});
    may_misfit_ |= is_past_;
    is_past_ = true;
  }
  // `begins_block`: it may; the thread did not hold the lock before.
  void acquire(LockId lock, bool reads, bool begins_block, LocationId location);
  // `ends_block`: it may; the thread no longer holds the lock.
  void release(LockId lock, bool reads, bool ends_block, LocationId location,
               TransactionForest& forest);
  // Its steps, and none of its blocks can still be closed.
  std::span<const TreeStep> end();

  bool has_steps() const { return steps_.size() > first_; }
  // Whether it would not be of the form if the worst were true of every step.
  bool may_misfit() const { return may_misfit_; }
  std::span<TreeStep> steps() { return steps_; }

 private:
  void push(const TreeStep& step) {
    steps_.push_back(step);
    if (steps_.size() >= shorten_at_) shorten_long();
  }
  // Leaves out what is repeated, from that step on.
  void shorten(std::size_t from);
  void shorten_many(std::size_t from);
  void shorten_long();

  static constexpr std::size_t kLong = 256;

  // The steps of all open nodes, one behind the other.
  std::vector<TreeStep> steps_;
  std::vector<std::size_t> open_;  // the acquires that begin blocks
  std::size_t first_ = 1;          // behind kBegin and kHeld
  std::size_t shorten_at_ = kLong;
  bool is_past_ = false;  // the first phase, if the worst is true
  bool may_misfit_ = false;

  // Scratch: a table of the kinds of steps, by open addressing. Entries with an older stamp are
  // free.
  struct Occurrence {
    std::uint64_t key = 0;
    std::size_t last = 0;
    std::uint32_t stamp = 0;
    bool is_kept = false;
  };
  std::vector<Occurrence> occurrences_;
  std::uint32_t stamp_ = 0;
};

}  // namespace tomos
