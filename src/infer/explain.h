// Why an expression has its atomicity: the way through it that cannot be reduced, or that breaks
// the locking discipline, as steps with places.
//
// The atomicity expressions are walked once more, under one answer to every question about locks.
// Along a way through them the first step that is no right-mover is the one that commits; the first
// after it that is no left-mover breaks.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/program.h"
#include "infer/classes.h"
#include "infer/conditional.h"
#include "infer/constraints.h"
#include "infer/generate.h"

namespace tomos::infer {

// What is known of locks: everything not listed is false.
using Situation = std::map<Predicate, bool>;

// An atomicity as a caller sees it that holds what it must, and nothing else.
struct Judged {
  Basic basic = Basic::kConst;
  std::vector<LockId> needed;  // held, or else it is an error
  Situation situation;
};
Judged judge(const Conditionals& conditionals, Atomicity atomicity);

// A situation in which a is no error and not below b.
std::optional<Situation> exceeds(Conditionals& conditionals, Atomicity a, Atomicity b);

struct Step {
  Basic basic = Basic::kConst;
  std::string op;      // "read", "write", "acquire", "release", "call", ...
  std::string object;  // a field, a lock, a method
  core::Position position;
  std::string missing;  // of an error: the lock that is not held
  std::optional<MethodId> callee;
  Situation inside;  // the situation, in the callee's words
};

struct Explanation {
  std::vector<Step> steps;  // those that are not const
  std::optional<std::size_t> commit;
  std::optional<std::size_t> broken;  // the step that does not fit, or that is an error
};

// A program whose constraints are solved.
struct Solved {
  const core::Program& program;
  Locks& locks;
  Classes& classes;
  Conditionals& conditionals;
  Constraints& constraints;
  const Generated& generated;
};

class Explainer {
 public:
  explicit Explainer(const Solved& solved) : solved_(solved) {}

  Explanation explain(NodeId node, const Situation& situation, Basic result);
  // Why it is compound, apart from calls of what is so itself: perhaps for no other reason.
  Explanation explain_own(NodeId node, const Situation& situation);
  // Likewise why it is an error; whatever the caller holds, if there is no situation.
  Explanation explain_own_error(NodeId node, const std::optional<Situation>& situation);
  // It is an error whatever its caller holds, and nobody said so.
  bool is_broken(MethodId method) const;

  struct Reason {
    // "acquires m again at a.cpp:40:3 after releasing it at a.cpp:31:3: not reducible", down to the
    // method to blame.
    std::string text;
    bool waits = false;  // for a condition: there a method means to let others in
  };
  Reason reason(const Explanation& explanation);

  std::string display(MethodId method) const;

 private:
  Explanation explain(NodeId node);
  bool is_true(Predicate p) const;
  std::string sentence(const Explanation& explanation) const;
  void walk(NodeId id);
  void walk_sync(NodeId id);
  void walk_either(const Node& join);
  NodeId worst(const Node& join);
  void leaf(const Node& node, Basic basic);
  void add(Step step);
  Basic evaluate(Atomicity atomicity);
  std::string object_of(const core::Expr& expr) const;
  std::string place(const core::Position& position) const;

  Solved solved_;
  Situation situation_;
  bool all_held_ = false;  // besides that
  Basic result_ = Basic::kConst;
  bool own_ = false;
  std::vector<NodeId> around_;  // nodes that say what is known inside them
  Explanation made_;
};

}  // namespace tomos::infer
