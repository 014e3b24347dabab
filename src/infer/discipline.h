// Which of several locking disciplines a program keeps best, as a problem of its own: what can be
// said of each field and what can be required by each method, what every choice costs, and what
// has to be chosen with it. guards.h makes the problem out of a program; solving it is MaxSAT
// (maxsat.h), component by component: classes that share no lock have nothing to do with each
// other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tomos::infer {

struct Discipline {
  // Accesses, or a call, that are in order if the method around them requires a lock.
  struct Need {
    std::size_t required = 0;  // index into `requirements`
    std::int64_t penalty = 0;  // if it does not
  };
  // One thing that can be said of a field.
  struct Option {
    std::int64_t cost = 0;
    std::vector<Need> needs;
  };
  // A method requires a lock of its callers.
  struct Requirement {
    std::int64_t cost = 0;
    bool is_fixed = false;             // it was declared
    bool is_possible = true;           //
    std::vector<Need> needs;           // of callers
    std::vector<std::size_t> entail;   // what the overridden methods must require, too
    std::vector<std::size_t> support;  // if there are any: callers, one of which must require it
  };

  std::vector<std::vector<Option>> fields;  // exactly one option of each
  std::vector<Requirement> requirements;
};

struct Choice {
  std::vector<std::size_t> options;  // of the fields
  std::vector<bool> required;
  std::int64_t cost = 0;
  bool optimal = true;  // no: a solver's budget was spent, and this is the best that was seen
};

// What a choice costs; nothing: it is none. Whoever solves otherwise can compare.
std::optional<std::int64_t> cost_of(const Discipline& discipline, const Choice& choice);

// The requirements that were chosen because of these fields, or were declared: those that the
// options need, and what follows from them.
std::vector<bool> asked_for(const Discipline& discipline, const Choice& choice,
                            const std::vector<std::size_t>& fields);

Choice solve(const Discipline& discipline, int conflicts);

}  // namespace tomos::infer
