// Conditional atomicities (section 3.2) as decision diagrams.
//
// A conditional atomicity is a function from what is known of locks to a basic atomicity. It is
// held as a reduced ordered diagram over lock predicates, every node once: equal functions have
// equal ids, and what the paper's simplification rules (Fig. 9) remove never comes to be.
//
// Predicates about one ghost parameter depend on each other: a lock that is none is not held, and
// one that is always is. The paper needs that for Fig. 10 (isAlways(x)?atomic:(x?mover:error) must
// bound x?mover:error) without saying so. Whoever tests a predicate therefore takes what follows
// from it into account, and a test whose two sides differ only where it contradicts what follows
// from it is left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/locks.h"
#include "core/program.h"
#include "infer/basic.h"

namespace tomos::infer {

using core::LockId;
using core::Locks;
using core::Predicate;

enum class Atomicity : std::uint32_t {};  // the first seven are the basic ones

constexpr Atomicity constant(Basic basic) { return static_cast<Atomicity>(basic); }

// Variables by name, and what each stands for: the paper's theta.
struct Substitution {
  std::vector<std::pair<std::string, LockId>> pairs;

  std::optional<LockId> find(const std::string& name) const;
};

LockId substitute(Locks& locks, const Substitution& theta, LockId lock);

class Conditionals {
 public:
  explicit Conditionals(Locks& locks);

  // p ? then : otherwise. Of a predicate on an unknown lock: the join of both.
  Atomicity choice(Predicate p, Atomicity then, Atomicity otherwise);

  Atomicity sequence(Atomicity a, Atomicity b) { return combine(Op::kSequence, a, b); }
  Atomicity join(Atomicity a, Atomicity b) { return combine(Op::kJoin, a, b); }
  Atomicity meet(Atomicity a, Atomicity b) { return combine(Op::kMeet, a, b); }
  Atomicity iterate(Atomicity a);
  bool leq(Atomicity a, Atomicity b) { return join(a, b) == b; }

  // Where p is known, and all that follows from it.
  Atomicity assume(Atomicity a, Predicate p, bool value);
  Atomicity assume_held(Atomicity a, LockId lock, bool held) {
    return assume(a, {.kind = Predicate::Kind::kHeld, .lock = lock}, held);
  }

  Atomicity substitute(Atomicity a, const Substitution& theta);

  // S(l, m, a) (section 5.2): the block that runs a holding l, which m protects.
  Atomicity synchronised(LockId l, LockId m, Atomicity a);

  // What the system runs as one step, whatever its parts.
  Atomicity transaction(Atomicity a);

  // WFA: the least atomicity above a that tests only locks that are well formed.
  Atomicity well_formed(Atomicity a, const std::function<bool(LockId)>& is_well_formed);

  // The least atomicity under a, over all that can be known of the locks that are picked.
  Atomicity best(Atomicity a, const std::function<bool(LockId)>& picked);

  // The inverse substitution (section 6.2), for x := theta(x) of the ghost parameters of a base
  // class; `own` are those of the derived class. Where the base has always or none for x, nothing
  // is asked of it for other x: the paper asks all the same, and its own Fig. 10 could not be
  // inferred.
  Atomicity inverse(Atomicity a, const Substitution& theta, const std::vector<std::string>& own);

  std::optional<Basic> basic(Atomicity a) const;
  Basic evaluate(Atomicity a, const std::function<bool(Predicate)>& holds) const;

  struct Node {
    Predicate predicate;
    Atomicity then = {};
    Atomicity otherwise = {};

    friend auto operator<=>(const Node&, const Node&) = default;
  };
  // Of one that is not basic.
  const Node& node(Atomicity a) const { return nodes_[static_cast<std::size_t>(a)]; }

  std::string to_text(Atomicity a) const;  // as the paper prints it: x?mover:error
  std::size_t size() const { return nodes_.size(); }

 private:
  enum class Op : std::uint8_t { kSequence, kJoin, kMeet };

  std::optional<bool> known(Predicate p) const;
  Atomicity make(Predicate p, Atomicity then, Atomicity otherwise);
  Atomicity combine(Op op, Atomicity a, Atomicity b);
  Atomicity restrict(Atomicity a, Predicate p, bool value);
  bool is_basic(Atomicity a) const { return static_cast<std::size_t>(a) < kBasics; }
  std::string text(Atomicity a, bool nested) const;

  // Rebuilds a with each node made anew out of its rebuilt sides.
  template <class Rebuild>
  Atomicity rebuild(Atomicity a, std::unordered_map<Atomicity, Atomicity>& done,
                    const Rebuild& make_node);

  static constexpr std::size_t kBasics = core::kBasicNames.size();

  Locks& locks_;
  std::vector<Node> nodes_;
  std::map<Node, Atomicity> ids_;
  std::map<std::tuple<Op, Atomicity, Atomicity>, Atomicity> combined_;
};

}  // namespace tomos::infer
