// Whether transactions are of the form of Theorem 2 (Wang & Stoller, sections 5.2, 5.3 and 5.6),
// with what is known of variables and locks:
//
//     (R + AcqA*Rel)* N? (L + AcqA*Rel)*     with both-movers anywhere
//
// R is an acquire, L a release, N an access to a racy variable, and A one to a variable that is
// read-only or thread-local. A block AcqA*Rel, in which other such blocks may be nested, has no
// effect and is ignored; but not if somebody keeps its lock from one transaction to the next,
// because then it cannot be executed wherever a serial run would want it (see
// LockMovers::is_carried). Theorem 1 is the same without A.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "event/event.h"
#include "monitor/locksets.h"
#include "monitor/reduction_movers.h"
#include "monitor/transaction_tree.h"

namespace tomos {

// Two steps that do not fit: the one ends the first phase (L or N), and after it comes R or N.
struct Misfit {
  std::size_t first = 0;  // step number, inner blocks unfolded
  std::size_t second = 0;
  TreeStep first_step = {};
  TreeStep second_step = {};
};

// What there is to say about such a step.
struct MisfitDetails {
  std::vector<ModeLock> first_held;
  std::vector<ModeLock> second_held;
  LocationId acquired = 0;  // if the first step is the release of a block: where it begins
  LocationId released = 0;  // if the second step is the acquire of a block: where it ends
  std::string pattern;      // "R B L R B L"
};

class ReductionJudge {
 public:
  // Looks once through the forest. All must stay as it is.
  ReductionJudge(const TransactionForest& forest, const VariableMovers& variables,
                 const LockMovers& locks, const CarriedLocks& carried, const Locksets& locksets,
                 bool acq_a_rel);

  std::optional<Misfit> judge(std::span<const TreeStep> transaction) const;
  MisfitDetails details(std::span<const TreeStep> transaction, const Misfit& misfit) const;

 private:
  char letter(const TreeStep& step, bool is_ignored) const;
  // Calls visit(step, letter) for each step until it returns false.
  template <class Visit>
  void read(std::span<const TreeStep> transaction, Visit visit) const;

  const TransactionForest& forest_;
  const VariableMovers& variables_;
  const LockMovers& locks_;
  const Locksets& locksets_;
  std::vector<bool> is_ignored_;  // by node: AcqA*Rel
};

}  // namespace tomos
