// The cycles that the serializability monitors find, told apart, counted, and turned into findings.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "event/event.h"
#include "event/names.h"
#include "monitor/locksets.h"
#include "report/finding.h"

namespace tomos {

// One event of a cycle, with the transaction it belongs to.
struct CycleEvent {
  std::uint64_t index = 0;  // its number in the trace
  std::uint64_t transaction =
      0;  // equal for two events of one thread iff they are of one transaction
  ThreadId thread = 0;
  LocationId location = 0;
  LabelId label = 0;     // the transaction's
  LocationId begin = 0;  // the transaction's
  LocksetId locks = 0;
  std::uint32_t object = 0;
  Op op = Op::kRead;  // kFork with object == thread: the start of the thread
};

// `from` must come before `to`, since they conflict and happened in this order.
struct CycleEdge {
  CycleEvent from;
  CycleEvent to;
};

// Edge by edge round the cycle. It starts and ends in the transaction that was cut: back().to is
// the event that closed it. Where to and from of two neighbours are of different transactions,
// these are of one thread, in its order; or, if the threads differ too, of threads that have ended
// and of which no more is known.
using Cycle = std::span<const CycleEdge>;

class Violations {
 public:
  // Predicted cycles come with sets of mode locks; those observed, with sets of locks.
  explicit Violations(std::size_t limit, Certainty certainty = Certainty::kObserved)
      : limit_(limit), certainty_(certainty) {}

  // Keeps a cycle that differs from all others in labels or locations, up to the limit; counts it
  // otherwise, also if there is nothing to tell. Returns which it is, for again().
  std::size_t add(Cycle cycle, const Locksets& locksets);
  // The same once more.
  void again(std::size_t which) { ++(which < kept_.size() ? kept_[which].count : left_out_); }

  bool empty() const { return kept_.empty() && left_out_ == 0; }

  std::uint64_t left_out() const { return left_out_; }
  std::vector<Finding> findings(std::string_view analysis, const Names& names) const;

 private:
  struct Kept {
    std::vector<CycleEdge> edges;
    std::vector<std::vector<LockId>>
        locks;  // two for each edge: sets may be forgotten by their table
    std::uint64_t count = 1;
  };
  std::size_t limit_;
  Certainty certainty_;
  std::vector<Kept> kept_;
  std::unordered_map<std::uint64_t, std::size_t> by_key_;
  std::uint64_t left_out_ = 0;
};

}  // namespace tomos
