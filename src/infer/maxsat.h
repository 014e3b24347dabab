// Weighted partial MaxSAT on CaDiCaL: of all assignments that satisfy the hard clauses, one whose
// broken soft clauses weigh least.
//
// Core-guided (OLL): assume that all soft clauses hold; a set that cannot hold together costs at
// least its smallest weight; that much is taken off each of its members, and from then on one of
// them may be broken for nothing, a second one not (a totalizer counts). Heavy clauses come first,
// so that a good assignment is known early: it is what remains when the budget is spent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace CaDiCaL {
class Solver;
}

namespace tomos::infer {

class MaxSat {
 public:
  using Literal = int;  // as in DIMACS: a variable, or minus it
  using Weight = std::int64_t;

  MaxSat();
  ~MaxSat();
  MaxSat(const MaxSat&) = delete;
  MaxSat& operator=(const MaxSat&) = delete;

  Literal variable() { return ++variables_; }
  void hard(const std::vector<Literal>& clause);
  void soft(std::vector<Literal> clause, Weight weight);

  struct Solution {
    bool found = false;    // hard clauses that contradict each other have none
    bool optimal = false;  // no: the budget was spent
    Weight cost = 0;
    std::vector<bool> values;  // by variable

    bool operator[](Literal literal) const {
      const bool value = values[static_cast<std::size_t>(literal < 0 ? -literal : literal)];
      return literal < 0 ? !value : value;
    }
  };
  // Once. `conflicts` is what any one question to the solver may take, but for the first, whether
  // there is a solution at all.
  Solution solve(int conflicts);

 private:
  struct Soft {
    std::vector<Literal> clause;
    Weight weight = 0;
  };
  static constexpr std::size_t kNoCounter = ~std::size_t{0};
  struct Assumed {
    Literal literal = 0;
    std::size_t counter = kNoCounter;  // of whose outputs this is the negation of one
    Weight weight = 0;                 // 0: no longer
  };

  void assume(Literal literal, Weight weight, std::size_t counter);
  void relax(const std::vector<std::size_t>& core, Weight weight);
  std::vector<Literal> count(const std::vector<Literal>& inputs);
  void keep_if_better(Solution& best) const;

  std::unique_ptr<CaDiCaL::Solver> solver_;
  int variables_ = 0;
  std::vector<Soft> softs_;
  std::vector<Assumed> assumed_;
  std::map<std::pair<Literal, std::size_t>, std::size_t> places_;  // in it
  // Outputs of totalizers: the one at k is true if more than k of the inputs are.
  std::vector<std::vector<Literal>> counters_;
};

}  // namespace tomos::infer
