// Constraints out of a program with guards: the type rules of Fig. 6.
//
// A method is walked in the order of its execution. Blocks (synchronized) are the paper's S. For
// locks that are acquired and released by hand the walk keeps what it knows of them, and says so to
// each step (kAssume): the paper has only blocks, but a block is an acquire, its body and a
// release, and means the same in both forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/program.h"
#include "event/error.h"
#include "infer/classes.h"
#include "infer/conditional.h"
#include "infer/constraints.h"
#include "infer/infer.h"
#include "report/finding.h"

namespace tomos::infer {

// What is wrong whatever the atomicities are.
struct Problem {
  MethodId method = {};
  ExprId expr = core::kNoExpr;
  Kind kind = Kind::kRace;
  std::string message;
  std::string fix;
  std::vector<MethodId> through;  // calls that have to do with the lock that it is about

  friend bool operator==(const Problem&, const Problem&) = default;
};

// A part of a body whose atomicity is asked for: a critical section, a claim, a call in a new
// thread.
struct Part {
  NodeId node = {};
  ExprId expr = core::kNoExpr;
  MethodId method = {};  // of which it is part
  Atomicity bound = {};  // of a claim
};

struct Generated {
  std::vector<std::optional<NodeId>> bodies;  // of the methods
  std::optional<NodeId> main;
  std::vector<Part> blocks;
  std::vector<Part> claims;
  std::vector<Part> forks;  // the node is the call as the new thread sees it
  std::vector<MethodId> forked;
  std::vector<Problem> problems;
  std::vector<MethodId> left_out;  // their bodies make no sense
};

// What becomes of what nobody knows: fields that have no guard, functions without source, new
// threads.
enum class Unknown : std::uint8_t {
  kShared,    // anybody may interfere: what is atomic then is atomic
  kHarmless,  // nobody does: what is not atomic then is so because of locks
};

// The method that main is part of: none.
inline constexpr MethodId kMain{0xffffffff};

class Generator {
 public:
  Generator(const core::Program& program, Locks& locks, Classes& classes,
            Conditionals& conditionals, Constraints& constraints, Unknown unknown,
            Senseless senseless);

  // An error: the program makes no sense. What is wrong with its locks is among the problems.
  Result<Generated> run();

 private:
  using Steps = std::vector<NodeId>;

  struct Value {
    Type type;
    LockId path = Locks::kUnknown;
  };

  struct Target {  // of lock, unlock, synchronized, wait
    LockId lock = Locks::kUnknown;
    LockId protector = Locks::kNone;
    bool reentrant = true;
  };

  // How often this method has acquired a lock; kReleased: it was the caller's, and is no longer
  // held.
  static constexpr int kReleased = -1;
  static constexpr int kMaybe = -2;  // held on some ways that lead here
  struct State {
    std::map<LockId, int> counts;
    bool reachable = true;
  };

  struct Loop {
    std::vector<State> breaks;
    std::vector<State> continues;
  };

  // Declarations.
  void declare(MethodId id);
  void method(MethodId id);
  void leave_out(MethodId id);
  void main_block();
  void overrides(const core::Class& of);
  void override_of(const core::Class& of, const Type& base, const core::Method& overridden);
  EnvId bind(EnvId env, const std::string& name, Type type, const core::Position& position);
  EnvId method_env(const MethodOf& of);
  Atomicity from_term(core::TermId id) const;

  // Expressions. Each adds its steps in the order of evaluation.
  Value expr(ExprId id, Steps& out);
  Value variable(ExprId id, Steps& out);
  Value new_object(ExprId id, Steps& out);
  Value field(ExprId id, Steps& out);
  Value assign(ExprId id, Steps& out);
  Value call(ExprId id, Steps& out, bool forked);
  Value let(ExprId id, Steps& out);
  void arguments(ExprId call, std::size_t first, const core::Method& method, Substitution& theta,
                 Steps& out);
  void locks_for(ExprId call, const std::vector<std::string>& ghosts,
                 const std::vector<LockId>& given, Substitution& theta);
  void invoke(ExprId call, MethodId callee, const Substitution& theta, Steps& out, bool forked);
  NodeId called(ExprId call, MethodId callee, const Substitution& theta);
  Atomicity access(const core::Expr& of, const core::Guard& guard, const Substitution& theta,
                   core::Expr::Kind kind);
  bool is_own(const Value& object);
  bool is_unshared() const;  // `this`, for now
  void check_type(const Type& type, const core::Position& position);
  void check_argument(ExprId argument, const Value& value, const Type& wanted);

  // Flow and locks.
  Value sequence(const std::vector<ExprId>& children, std::size_t from, Steps& out);
  bool conditional(ExprId id, const std::vector<ExprId>& children, std::size_t rest, Steps& out);
  void loop(ExprId id, Steps& out);
  std::pair<State, State> loop_once(ExprId id, const State& head, Steps& out);
  Value synchronised(ExprId id, Steps& out);
  void lock(ExprId id, const Target& target, Steps& out);
  void unlock(ExprId id, const Target& target, Steps& out);
  void set_count(LockId lock, int count);
  int count(LockId lock) const;
  Target target(ExprId lock);
  State merge(const State& a, const State& b, ExprId where);
  void leave(ExprId where);  // the method: what it holds must be what it says
  std::vector<std::pair<LockId, bool>> facts() const;

  NodeId group(const Steps& steps, ExprId expr);
  void step(ExprId expr, NodeId inner, Steps& out, std::optional<LockId> but_not = {});
  NodeId basic(Basic value, ExprId expr);
  NodeId well_formed(ExprId expr, NodeId inner);
  void problem(ExprId where, Kind kind, std::string message, std::string fix,
               LockId about = Locks::kUnknown);
  void fail(const core::Position& position, std::string what, std::string remedy);
  bool failed() const { return error_.has_value(); }
  std::string show(LockId lock) const { return locks_.to_string(lock); }

  const core::Program& program_;
  Locks& locks_;
  Classes& classes_;
  Conditionals& conditionals_;
  Constraints& constraints_;
  Unknown unknown_;
  Senseless senseless_;
  Generated made_;
  std::optional<Error> error_;

  // Of the method being walked.
  MethodId current_ = kMain;
  const core::Method* method_ = nullptr;
  EnvId env_ = kEmptyEnv;
  State state_;
  std::vector<Loop> loops_;
  std::vector<LockId> sections_;  // the locks of the blocks around
  std::map<std::string, LockId> aliases_;
  std::map<LockId, std::set<MethodId>> passed_on_;  // whose calls leave a lock otherwise
  std::size_t silent_ = 0;                          // inside no_warn
};

}  // namespace tomos::infer
