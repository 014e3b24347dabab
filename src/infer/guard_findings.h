// What breaks the guards and requirements that were chosen (guards.h), told to people. What was
// told is marked in the program (Expr::excused): the second phase need not tell it again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/program.h"
#include "infer/classes.h"
#include "infer/discipline.h"
#include "infer/flow.h"
#include "infer/requirements.h"
#include "infer/wrong_calls.h"
#include "report/finding.h"

namespace tomos::infer {

class GuardFindings {
 public:
  GuardFindings(core::Program& program, Classes& classes, const Flow& flow,
                const Requirements& requirements)
      : program_(program),
        locks_(program.locks),
        classes_(classes),
        flow_(flow),
        requirements_(requirements) {}

  struct Guarded {
    const core::Field& field;
    const core::Class* owner;
    const std::vector<const Access*>& accesses;
  };
  // The accesses without the guard that the field has now.
  void tell_accesses(const Guarded& of);
  // The calls that break a requirement.
  void tell_calls(std::size_t index, const Choice& choice);
  void tell_wrong_calls();

  void excuse_loose(const Guarded& of, const core::Guard& guard);
  void excuse_unshared();

  std::vector<std::string> told_entered_again() const;

  std::vector<Finding> findings;
  std::map<OwnLock, std::size_t> entered_again;  // locks, as if their holders could acquire them

 private:
  void excuse(ExprId id, core::Expr::Excused why);
  bool is_required(MethodId method, LockId lock) const;
  bool holds(MethodId method, HoldsId at, LockId lock, std::optional<LockId> any) const;
  std::string name_of(MethodId id) const;
  Location location(const core::Position& position) const;
  Finding begin(MethodId method, ExprId expr, std::string op, std::string object) const;

  core::Program& program_;
  Locks& locks_;
  Classes& classes_;
  const Flow& flow_;
  const Requirements& requirements_;
};

}  // namespace tomos::infer
