// The walk of flow.h: through every method with what is known of locks on the way.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "infer/classes.h"
#include "infer/flow.h"
#include "infer/ways.h"

namespace tomos::infer {

class Walker {
 public:
  Walker(const core::Program& program, Locks& locks, Classes& classes)
      : program_(program), locks_(locks), classes_(classes) {}

  Flow run();

 private:
  struct Value {
    Type type;
    LockId path = Locks::kUnknown;
    bool unshared = false;
    std::optional<std::size_t> access;  // of the field that it was read from
    const core::Field* field = nullptr;
  };
  struct Variable {
    Type type;
    LockId path = Locks::kUnknown;
    const core::Field* field = nullptr;  // that it was read from, of some object
  };
  struct Section {
    LockId lock = {};
    ExprId expr = core::kNoExpr;
  };
  struct Loop {
    std::vector<Way> breaks;
    std::vector<Way> continues;
    std::size_t sections = 0;  // around the loop
  };

  // In the first round it is not known what changes: what is not said to is taken not to.
  bool is_final(const core::Field& field) const;
  // The field at the end of a lock expression of a method.
  const core::Field* field_of(MethodId id, LockId lock);
  void find_roles();
  void begin(MethodId id);
  void method(MethodId id);
  void main_block();
  void leave();
  bool is_callers(LockId lock) const;
  void note_effects(MethodId id);
  // For a write a reader's lock is none, and the callers cannot help it.
  HoldsId holds_now(Access::Kind kind = Access::Kind::kRead);
  bool is_construction() const;

  // Expressions, in flow_exprs.cpp.
  Value expr(ExprId id);
  // An object that is only looked into, or whose method is called: that tells nobody of it.
  Value object(ExprId id);
  Value variable(ExprId id);
  LockId path_of_global(const core::Field& shared, const std::string& name);
  // Its index, if it was noted.
  std::optional<std::size_t> access(ExprId id, const core::Field& field, Substitution theta,
                                    Access::Kind kind, bool unshared);
  Value field(ExprId id);
  LockId path(LockId object_path, const core::Field& of);
  Value assign(ExprId id);
  void arguments(ExprId call, std::size_t first, const core::Method* method, Substitution& theta);
  void invoke(CallSite site);
  LockId seen_here(const CallSite& site, LockId lock) const;
  Value call(ExprId id, bool forked);
  Value new_object(ExprId id);
  Value let(ExprId id);
  // What is known where it is true, and where it is false.
  std::pair<Way, Way> condition(ExprId id);
  void loop(ExprId id);

  // Locks, in flow.cpp.
  // In the next round of a loop the name stands for something else.
  void forget(LockId variable);
  LockId lock_of(ExprId id);
  // Whose lock it is may be forgotten on the way to a field that it guards; of which class is not.
  std::optional<LockId> of_any(LockId lock) const;
  void take(LockId lock, bool shared);
  // What was taken, at the end of its block.
  void leave_section(Way& way, LockId lock);
  void exclude(LockId lock, ExprId id);
  void give(LockId lock);
  void doubt(LockId any);
  void presume(LockId lock);

  const core::Program& program_;
  Locks& locks_;
  Classes& classes_;
  Flow made_;
  std::map<MethodId, std::vector<LockId>> acquires_;  // as the last round found them
  std::map<MethodId, std::vector<LockId>> releases_;
  std::map<Holds, HoldsId> known_holds_;
  std::set<MethodId> initialising_;
  std::set<ExprId> is_mutex_;

  // Of the method being walked.
  MethodId current_ = kMain;
  const core::Method* method_ = nullptr;
  std::map<std::string, Variable> variables_;
  std::map<LockId, const core::Field*> fields_;  // at the ends of lock expressions
  Way way_;
  std::vector<Way> exits_;
  std::vector<Loop> loops_;
  std::vector<Section> sections_;
  std::size_t silent_ = 0;
};

}  // namespace tomos::infer
