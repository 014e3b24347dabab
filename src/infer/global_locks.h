// Global locks, and which classes have to do with them. That one is held whenever an object is used
// says little: much is done under a global lock that would need none. It says more if the class
// itself knows of the lock.
#pragma once

#include <set>
#include <utility>

#include "core/program.h"
#include "infer/classes.h"
#include "infer/conditional.h"
#include "infer/flow.h"

namespace tomos::infer {

class GlobalLocks {
 public:
  GlobalLocks(const Locks& locks, const Classes& classes, const Flow& flow);

  bool contain(LockId lock) const;
  // Declared beside it, or acquired by its methods.
  bool are_known_to(const core::Class& of, LockId lock) const;
  // Held by somebody who looks into such objects, not only by callers of callers; or known.
  bool are_held_for(const core::Class& of, LockId lock) const;
  // Its methods say that they need it.
  static bool are_needed_by(const core::Class& of, LockId lock);

 private:
  void note(MethodId method, LockId lock);

  const Locks& locks_;
  const Classes& classes_;
  std::set<std::pair<const core::Class*, LockId>> of_classes_;
  std::set<std::pair<const core::Class*, LockId>> touched_;
};

}  // namespace tomos::infer
