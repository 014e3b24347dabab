// What could guard a field, and how likely each kind of lock is: a price, which guards.cpp weighs
// against what the accesses say.
//
// A lock of the object itself is likely; one of the object that it belongs to, less; a global one
// that happens to be held is not, unless the class has to do with it. Which object it belongs to
// often cannot be followed. Then a lock of any object of that class will do (`&Owner::m`): whoever
// holds one while using a part has, as a rule, the part's owner in hand.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/program.h"
#include "infer/classes.h"
#include "infer/conditional.h"
#include "infer/flow.h"
#include "infer/global_locks.h"
#include "infer/requirements.h"

namespace tomos::infer {

class Candidates {
 public:
  using Accesses = std::vector<const Access*>;

  // If ghost parameters are for these fields only.
  Candidates(Locks& locks, Classes& classes, const Flow& flow, const Requirements& requirements,
             const std::set<const core::Field*>* for_ghosts);

  // Whether nothing but the inferred ghost parameter of its class could guard it.
  bool is_for_ghost(const core::Field& field, const core::Class& owner) const;

  // The owner is the class of a field; none: a global.
  std::vector<LockId> of(const core::Field& field, const core::Class* owner,
                         const Accesses& accesses);
  std::int64_t cost(const core::Field& field, const core::Class* owner, LockId lock,
                    const Accesses& accesses) const;
  // That objects of a class are under a lock that is not their own costs something once. None: it
  // is their own.
  std::optional<std::int64_t> class_cost(const core::Class& of, LockId lock) const;

 private:
  // Whether a class has to do with a lock of the class that it is inside: its methods acquire it.
  bool is_part(const core::Class& of, LockId of_any) const;
  // What happens to be held once proves nothing.
  bool is_held_often(const core::Class& owner, LockId lock, const Accesses& accesses) const;

  void add_own(const core::Field& field, const core::Class& owner, std::set<LockId>& to);
  void add_held(const core::Class* owner, bool of_object, const Access& access,
                std::set<LockId>& to) const;
  bool is_locked(const core::Class& of) const;
  // Whether one of them is derived from the other, or is it.
  bool is_kin(const core::Class& one, const core::Class& other) const;

  Locks& locks_;
  Classes& classes_;
  const Flow& flow_;
  const Requirements& requirements_;
  const std::set<const core::Field*>* for_ghosts_;
  GlobalLocks global_locks_;
  std::set<const core::Class*> reached_;
  std::vector<std::set<LockId>> at_entry_;              // of each method
  std::map<LockId, const core::Class*> owners_of_any_;  // of the locks of any object
};

}  // namespace tomos::infer
