// Global locks, and which classes have to do with them. That one is held whenever an object is used
// says little: much is done under a global lock that would need none. It says more if the class
// itself knows of the lock.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/program.h"
#include "infer/classes.h"
#include "infer/conditional.h"
#include "infer/flow.h"

namespace tomos::infer {

class GlobalLocks {
 public:
  GlobalLocks(const Locks& locks, const Classes& classes, const Flow& flow);

  bool contain(LockId lock) const;
  bool has_methods() const { return has_methods_; }  // no: a program in C
  // Acquired by methods of the class, of classes inside it, of the one that it is inside, or of all
  // that have a part of that class. In C, where there are no methods: declared beside it.
  bool are_known_to(const core::Class& of, LockId lock) const;
  // Declared in the same file, or in the header of it.
  bool are_beside(const core::Position& at, LockId lock) const;
  // Held by somebody who looks into such objects, not only by callers of callers; or known.
  bool are_held_for(const core::Class& of, LockId lock) const;
  // Its methods say that they need it.
  static bool are_needed_by(const core::Class& of, LockId lock);
  // Nobody acquires it, nor does an attribute of the class ask for it. What is only ever asserted
  // is no lock, but the one thread that all of this runs in: nothing follows for an object.
  bool are_only_asserted(const core::Class& of, LockId lock) const;

 private:
  const core::Class* outer_of(const core::Class& of) const;
  void note(MethodId method, LockId lock);

  const Locks& locks_;
  const Classes& classes_;
  bool has_methods_ = false;
  std::set<std::pair<const core::Class*, LockId>> of_classes_;
  std::set<std::pair<const core::Class*, LockId>> touched_;
  std::set<LockId> taken_;
  // The classes that have fields of a class, by its name; null: it is a global.
  std::map<std::string, std::vector<const core::Class*>> holders_;
};

}  // namespace tomos::infer
