// Atomicity expressions and constraints (Fig. 5), and the least assignment that satisfies them
// (Fig. 8).
//
// An expression is kept as it was generated, with the place in the program that it came from:
// solving reads it, and so does whoever explains the result. Operations on atomicities that hold no
// variable are done once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/program.h"
#include "infer/classes.h"
#include "infer/conditional.h"

namespace tomos::infer {

using core::ExprId;

enum class NodeId : std::uint32_t {};

struct Node {
  enum class Kind : std::uint8_t {
    kConstant,     // an atomicity
    kVariable,     // of a method
    kSequence,     // d;d;...
    kJoin,         //
    kIterate,      // d*
    kSubstitute,   // d with theta, once it is known
    kSync,         // S(lock, protector, d)
    kWellFormed,   // wfa(P, env, d)
    kInverse,      // of theta; hidden: ghosts of the derived class
    kAssume,       // d where facts about locks are known
    kUnshared,     // d where nobody else can use the locks of `this`
    kTransaction,  // d run as one step
  };
  Kind kind = Kind::kConstant;
  ExprId expr = core::kNoExpr;
  std::vector<NodeId> children;
  Atomicity atomicity = {};
  MethodId method = {};
  Substitution theta;
  std::vector<std::string> hidden;
  EnvId env = {};
  LockId lock = {};
  LockId protector = {};
  std::vector<std::pair<LockId, bool>> facts;
};

// d <= the atomicity of the method.
struct Constraint {
  NodeId bound = {};
  MethodId method = {};
};

class Constraints {
 public:
  Constraints(Classes& classes, Conditionals& conditionals, Locks& locks);

  NodeId add(Node node);
  const Node& operator[](NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }

  void add(Constraint constraint) { constraints_.push_back(constraint); }
  const std::vector<Constraint>& list() const { return constraints_; }

  // A declared atomicity is no unknown.
  void declare(MethodId method, Atomicity atomicity);
  bool is_declared(MethodId method) const { return declared_[static_cast<std::size_t>(method)]; }
  Atomicity assigned(MethodId method) const {
    return assignment_[static_cast<std::size_t>(method)];
  }

  // The least assignment: every unknown grows from const until its constraints hold. Those of
  // declared atomicities are for the caller to check.
  void solve();

  // The meaning of an expression under the assignment.
  Atomicity value(NodeId id);
  // The meaning of the node, given that of its child.
  Atomicity apply(const Node& node, Atomicity child);

  std::string to_text(NodeId id) const;
  std::string to_text(const Constraint& constraint) const;  // as in Fig. 7

 private:
  void variables(NodeId id, std::vector<MethodId>& found) const;
  std::string variable_name(MethodId method) const;
  std::string grouped(NodeId id) const;

  Classes& classes_;
  Conditionals& conditionals_;
  Locks& locks_;
  std::vector<Node> nodes_;
  std::vector<std::optional<Atomicity>> closed_;  // the values of those without variables
  std::vector<bool> is_open_;
  std::vector<Constraint> constraints_;
  std::vector<Atomicity> assignment_;
  std::vector<bool> declared_;
};

}  // namespace tomos::infer
