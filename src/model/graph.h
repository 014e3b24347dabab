// The summarized conflict graph (Farzan & Madhusudan, CAV 2008, sections 3 and 4) as a part of a
// state: a few small numbers that the search copies, compares and packs.
//
// It is the automaton of monitor/summarized_graph.h for a fixed number of threads and variables:
// an open transaction of thread t is node t, sets of nodes are bits of one Value, nothing is
// allocated. What is new is normalise(): graphs that no future can tell apart become equal. Only
// serializable runs have a state; at the first cycle the search has what it looks for.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "model/program.h"

namespace tomos::model {

template <class Visit>
void each(Value nodes, Visit visit) {
  for (unsigned bits = nodes; bits != 0; bits &= bits - 1) {
    visit(static_cast<std::size_t>(std::countr_zero(bits)));
  }
}

class Graph {
 public:
  using Nodes = Value;  // a set of threads
  enum Set : std::uint8_t { kSRead, kSWrite, kCRead, kCWrite };
  static constexpr std::size_t kSets = 4;

  static std::size_t size(std::size_t threads, std::size_t variables) {
    return 1 + 2 * threads + kSets * variables;
  }

  // Works on values that stay where they are. All zero: nothing has happened.
  Graph(std::size_t threads, std::size_t variables, Value* values)
      : threads_(threads), variables_(variables), values_(values) {}

  // An access, inside a transaction or as one of its own. Whether it closes a cycle.
  bool access(std::size_t thread, bool inside, std::size_t variable, bool writes);
  void end(std::size_t thread);

  // What may still be read and written by each thread: sets of variables.
  struct Future {
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
  };
  void normalise(std::span<const Future> futures);

  bool entered(std::size_t thread) const { return ((*values_ >> thread) & 1U) != 0; }
  Nodes& before(std::size_t thread) const { return values_[1 + thread]; }
  Nodes& past(std::size_t thread) const { return values_[1 + threads_ + thread]; }
  Nodes& labels(std::size_t variable, Set set) const {
    return values_[1 + 2 * threads_ + kSets * variable + set];
  }
  Nodes* labels() const { return values_ + 1 + 2 * threads_; }  // by variable and set
  Nodes after(std::size_t thread) const;

  // Thread i becomes what thread from[i] was.
  void permute(std::span<const std::uint8_t> from);

 private:
  static Nodes bit(std::size_t thread) { return static_cast<Nodes>(1U << thread); }
  Nodes closed_upward(Nodes nodes) const;

  std::size_t threads_;
  std::size_t variables_;
  Value* values_;  // [0]: nodes that have had an event; before, past (by thread); labels
};

}  // namespace tomos::model
