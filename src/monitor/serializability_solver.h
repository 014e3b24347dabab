// Whether every interleaving of a set of transactions is view-serializable, exactly (Wang &
// Stoller, Theorem 5), by asking a SAT solver for one that is not.
//
// A formula describes the interleavings: one variable for each two events of different threads says
// which comes first; locks, thread order and thread periods restrict them. It asks for one in which
// the conflicts between transactions form a cycle, since without that there is a serial order. Such
// an interleaving may still be view-serializable (writes that nobody reads); then what is read and
// last written in it is forbidden, and the solver asked again.
#pragma once

#include <cstdint>
#include <vector>

#include "monitor/locksets.h"
#include "monitor/small_run.h"
#include "monitor/thread_periods.h"
#include "monitor/violations.h"

namespace tomos {

struct Judged {
  enum class Answer : std::uint8_t { kAtomic, kNotAtomic, kUnknown };
  Answer answer = Answer::kUnknown;
  std::vector<std::uint32_t> order;  // kNotAtomic: the items, in an order that has no serial equal
};

struct SolverLimits {
  std::size_t items = 160;
  int conflicts = 200'000;      // of the SAT solver, for each question
  std::size_t questions = 500;  // for one more interleaving
  std::size_t serial_steps = 1'000'000;
};

Judged judge(const SmallRun& run, const ThreadPeriods& periods, const Locksets& locksets,
             const SolverLimits& limits, bool (*stop)());

// A shortest cycle of conflicts in the interleaving, from the transaction that it cuts; with locks
// held from one transaction to the next perhaps only of what came before what. Events are numbered
// by their place in `order`.
std::vector<CycleEdge> cycle_in(const SmallRun& run, const std::vector<std::uint32_t>& order,
                                const ThreadPeriods& periods, const SharedVariables& variables);

}  // namespace tomos
