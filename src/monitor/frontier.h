// Who must come after whom, in space that does not grow with the trace.
//
// Only a transaction that is still open can get a new predecessor, so only open transactions can
// close a cycle, and all that has to be known is what comes after each of *them*. A thread's
// transactions come one after the other: if one of them comes after transaction v, so do all later
// ones of that thread. Number the transactions of each thread (their *positions*); then everything
// that comes after v is described by one number a thread, the first position that does: v's
// *frontier*. It is a vector clock turned round: a vector clock tells for an event which
// transactions of each thread lie before it, a frontier tells for a transaction which ones lie
// after it. The gain is that an access needs to be remembered only by its thread and position (an
// epoch), that its order is looked up when it is needed and so is always up to date, and that
// nothing has to be pushed to variables when a transaction ends.
//
// For k threads: k*k numbers; k*k edges, each the one by which a thread was first reached, from
// which the path of a cycle is read off; and k more of both for each ended thread of which an event
// is still remembered. Adding an order costs O(k) to look up and O(k) for each open transaction
// that learns something new.
//
// The published vector-clock algorithm (Mathur & Viswanathan, ASPLOS 2020) keeps clocks in the
// other direction and pushes them at the end of each transaction. It reports a cycle through an
// open transaction only when that ends; here every cycle is seen at the event that closes it.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "event/event.h"
#include "monitor/locksets.h"
#include "monitor/violations.h"

namespace tomos {

// A remembered event: where it stands in the order, and what a report wants to know of it.
struct Witness {
  std::uint64_t index : 39 = 0;          // its number in the trace
  std::uint64_t slot : 24 = 0;           // its thread's, in the Frontier
  std::uint64_t in_transaction : 1 = 0;  // or a transaction of its own
  std::int32_t position = -1;
  ThreadId thread = 0;
  LocationId location = 0;
  LabelId label = 0;
  LocationId begin = 0;
  LocksetId locks = 0;
};
static_assert(sizeof(Witness) == 32);

class Frontier {
 public:
  using Slot = std::uint32_t;
  using Position = std::int32_t;
  static constexpr Position kNever = std::numeric_limits<Position>::max();
  // No thread's slot. An empty Witness stands there, before all positions.
  static constexpr Slot kNobody = 0;

  struct Limits {
    // From there on a slot is full. One event takes one position for each slot at most.
    Position last_position = kNever - (1 << 25);
    // So many may be kept before the first search for those not needed.
    std::size_t edges = 4096;
    std::size_t closed_slots = 64;
  };
  Frontier() : Frontier(Limits()) {}
  explicit Frontier(const Limits& limits);

  // Threads come and go; the slot of one that has ended is used again when nothing depends on it.
  Slot open_slot();
  void close_slot(Slot slot);
  // The numbers of a slot run out after two thousand million transactions. Its thread then goes on
  // in another one.
  bool full(Slot slot) const { return tips_[slot] >= limits_.last_position; }
  Slot move(Slot slot);
  std::uint32_t slots() const { return static_cast<std::uint32_t>(tips_.size()); }

  // A transaction of the slot's thread.
  void begin(Slot slot);
  void end(Slot slot);
  bool is_open(Slot slot) const { return cell(slot, lane_of_[slot]) != kNever; }
  Position tip(Slot slot) const { return tips_[slot]; }

  // Whether an open transaction comes before the event, or is its own. If not, no cycle can ever go
  // through it.
  bool live(const Witness& event) const { return first_live_[event.slot] <= event.position; }

  // Whether the event comes after the slot's open transaction.
  bool reaches(Slot slot, const Witness& event) const {
    return cell(static_cast<Slot>(event.slot), lane_of_[slot]) <= event.position;
  }

  // Whether putting the event before what the slot's thread does now would order anything that is
  // not ordered yet.
  bool learns(Slot slot, const Witness& event) const;

  // Whether all open transactions that come before one event, or are its own, come before another,
  // or are its own. It stays so for all that is to come.
  bool covers(const Witness& event, const Witness& other) const;

  // The conflict that orders an event before what a slot's thread does now.
  struct Cause {
    const Witness& from;
    const Witness& to;
    std::uint32_t object;
    Op from_op;
    Op to_op;
  };

  // Puts cause.from before the slot's transaction (or before its single event, and all that
  // follows). If cause.from comes after that transaction, it takes from it only the open
  // transactions before it that do not come after, too: the order stays free of cycles.
  void order(const Cause& cause, Slot slot);

  // Appends the edges that lead from the slot's open transaction to the event, which it reaches.
  void path(Slot slot, const Witness& event, std::vector<CycleEdge>& edges) const;

  // Slots of ended threads that are still in use. When there are many, their user marks those that
  // its witnesses are at and gives the others back; a path through them then has a gap.
  bool wants_sweep() const { return closed_.size() > sweep_at_; }
  void sweep(const std::vector<bool>& used);
  template <class Visit>
  void each_witness(Visit visit) const {
    const auto visit_all = [&](const std::vector<Edge>& edges) {
      for (const Edge& edge : edges) {
        visit(edge.from);
        visit(edge.to);
      }
    };
    visit_all(edges_);
    for (const std::vector<Edge>& detour : detours_) visit_all(detour);
  }

  static CycleEvent event_of(const Witness& witness, Op op, std::uint32_t object);

 private:
  struct Edge {
    Witness from;
    Witness to;
    std::uint32_t object;
    Op from_op;
    Op to_op;
    std::uint32_t detour = 0;  // index into detours_
  };
  using Lane = std::uint32_t;  // of a live thread: where its open transaction stands in a row

  std::size_t at(Slot chain, Lane open) const {
    return static_cast<std::size_t>(chain) * capacity_ + open;
  }
  // Of the part of a row that is in use, so that loops over it need no remainder.
  std::uint32_t width() const { return (lanes() + 15U) & ~15U; }
  std::uint32_t lanes() const { return static_cast<std::uint32_t>(slot_at_.size()); }
  Position cell(Slot chain, Lane open) const { return first_[at(chain, open)]; }
  void reach(Slot chain, Lane open, Position position, std::uint32_t edge);
  void forget(Slot chain, Lane open);
  void follow(Slot slot);
  void take_lane(Slot slot);
  void widen();
  void recycle();
  void collect_edges();
  std::uint32_t add_edge(const Cause& cause);
  std::uint32_t add_edge_round(const Cause& cause, Slot open);
  void trail(Slot slot, const Witness& event, std::vector<Edge>& edges) const;
  template <class Visit>
  void each_reached(Lane open, Visit visit) const;

  Limits limits_;
  std::uint32_t capacity_ = 0;  // of lanes in a row; a multiple of 16

  // [chain][open]: the first position of the chain that comes after the open transaction, and the
  // edge that led there. A chain is a slot, also of an ended thread; only live threads have a lane.
  std::vector<Position> first_;
  std::vector<std::uint32_t> edge_at_;
  std::vector<std::vector<std::uint64_t>>
      reached_;                       // [open]: bit set of chains with a position there
  std::vector<Position> first_live_;  // [chain]: least of its row

  std::vector<Lane> lane_of_;  // [slot]
  std::vector<Slot> slot_at_;  // [lane]
  std::vector<Lane> free_lanes_;

  std::vector<Position> tips_;  // [slot]: the current position
  std::vector<Position> base_;  // [slot]: positions below are of a thread that had the slot before
  std::vector<Slot> free_;
  std::vector<Slot> closed_;  // of ended threads, still in use
  std::size_t recycle_at_ = 16;
  std::size_t sweep_at_;

  std::vector<Edge> edges_;
  std::size_t collect_at_;
  // Where an order follows from a conflict that closed a cycle, the way to the conflict cannot be
  // looked up later: it may lead over transactions that from now on come after its end. So it is
  // kept, last edge first. [0] is empty.
  std::vector<std::vector<Edge>> detours_ = std::vector<std::vector<Edge>>(1);

  // Scratch of order(): the open transactions that learn something, with the edge that tells them;
  // as a row.
  std::vector<Lane> learners_;
  std::vector<std::uint32_t> last_edges_;
  std::vector<Position> chosen_;
};

}  // namespace tomos
