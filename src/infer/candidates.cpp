#include "infer/candidates.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "core/any_object.h"
#include "infer/reach.h"

namespace tomos::infer {

using core::Class;
using core::Field;

namespace {

// In the units of guards.cpp: a read in order is worth 2.
constexpr std::int64_t kGhostCost = 1;       // somebody wrote it down for that
constexpr std::int64_t kOwnCost = 2;         // of the object, or of its base
constexpr std::int64_t kOuterCost = 3;       // of an object that this one leads to
constexpr std::int64_t kOuterClassCost = 4;  // and, once, for the class
constexpr std::int64_t kAnyCost = 6;         // of any object of a class that it is a part of
constexpr std::int64_t kAnyClassCost = 12;
constexpr std::int64_t kNearCost = 3;  // a global lock for a global beside it
constexpr std::int64_t kFarCost = 9;
// A global lock for a field of objects, and, once, for their class. If nothing says that the class
// knows of the lock, it just happens to be held; only in C, where nothing can, it is a matter of
// price.
constexpr std::int64_t kToldFieldCost = 3;  // its own methods say that they need the lock
constexpr std::int64_t kNearFieldCost = 4;
constexpr std::int64_t kFarFieldCost = 8;
constexpr std::int64_t kToldClassCost = 1;
constexpr std::int64_t kNearClassCost = 4;
constexpr std::int64_t kFarClassCost = 24;
constexpr std::int64_t kOneMethodCost = 6;  // not its own lock, and only one method to tell
// How many methods must acquire a lock that is not the object's own before it guards anything.
constexpr std::size_t kFewestHolders = 2;

bool is_local(const std::string& name) { return name.find('@') != std::string::npos; }

}  // namespace

Candidates::Candidates(Locks& locks, Classes& classes, const Flow& flow,
                       const Requirements& requirements, const std::set<const Field*>* for_ghosts)
    : locks_(locks),
      classes_(classes),
      flow_(flow),
      requirements_(requirements),
      for_ghosts_(for_ghosts),
      global_locks_(locks, classes, flow),
      reached_(reached_classes(locks, classes, flow)),
      at_entry_(requirements.held_at_entry()) {
  for (const Field* field : flow.lock_fields) {
    const Class* owner = classes.owner(*field);
    if (owner != nullptr && !field->is_static) {
      owners_of_any_.emplace(core::of_any(locks, owner->name, field->name), owner);
    }
  }
}

bool Candidates::is_for_ghost(const Field& field, const Class& owner) const {
  return for_ghosts_ != nullptr && !owner.ghosts.empty() && !field.is_static &&
         for_ghosts_->contains(&field);
}

std::vector<LockId> Candidates::of(const Field& field, const Class* owner,
                                   const Accesses& accesses) {
  // No other lock would do, or it would not be asked for.
  if (owner != nullptr && is_for_ghost(field, *owner)) return {locks_.ghost(owner->ghosts[0])};
  std::set<LockId> found;
  const bool of_object = owner != nullptr && !field.is_static;
  if (of_object) add_own(field, *owner, found);
  for (const Access* access : accesses) add_held(owner, of_object, *access, found);
  if (of_object) {
    std::erase_if(found, [&](LockId lock) {
      if (!class_cost(*owner, lock)) return false;
      if (!reached_.contains(owner)) return true;
      if (global_locks_.contain(lock)) {
        if (global_locks_.are_only_asserted(*owner, lock)) return true;
        if (GlobalLocks::are_needed_by(*owner, lock)) return false;
        if (global_locks_.has_methods() && !global_locks_.are_known_to(*owner, lock)) return true;
      }
      return !is_held_often(*owner, lock, accesses);
    });
  }
  // What is static in a function is that function's business; so is its lock then.
  if (is_local(field.name)) {
    std::erase_if(found,
                  [&](LockId lock) { return !is_local(locks_[locks_.root(lock).first].name); });
  }
  return {found.begin(), found.end()};
}

void Candidates::add_own(const Field& field, const Class& owner, std::set<LockId>& to) {
  const LockId self = locks_.variable("this");
  const Type type = classes_.self_type(owner);
  if (is_locked(owner)) to.insert(self);
  if (for_ghosts_ == nullptr) {
    for (const std::string& ghost : owner.ghosts) to.insert(locks_.ghost(ghost));
  }
  for (const FieldUse& use : classes_.all_fields(type, self)) {
    const LockId path = locks_.field(self, use.field->name);
    if (flow_.lock_fields.contains(use.field) && use.field != &field) to.insert(path);
    if (!flow_.leading_fields.contains(use.field)) continue;
    const Type leads_to = classes_.substitute(use.theta, use.field->type);
    for (const FieldUse& there : classes_.all_fields(leads_to, path)) {
      if (flow_.lock_fields.contains(there.field) && there.field != &field) {
        to.insert(locks_.field(path, there.field->name));
      }
    }
  }
}

// Global locks, and those of any object, that are held at an access.
void Candidates::add_held(const Class* owner, bool of_object, const Access& access,
                          std::set<LockId>& to) const {
  const auto is_kin = [&](LockId lock) { return of_object && is_part(*owner, lock); };
  for (const auto& [lock, hold] : flow_[access.holds]) {
    if (hold.depth == 0) continue;
    // That a lock inside some global object is held says nothing of other objects.
    const bool near = locks_.root(lock).second == 0 || !of_object;
    if ((global_locks_.contain(lock) && near) || is_kin(lock)) to.insert(lock);
  }
  if (access.method == kMain) return;
  const auto is_plain = [&](LockId lock) {
    return locks_.root(lock).second == 0 || owner == nullptr;
  };
  for (const LockId lock : classes_[access.method].method->requires_held) {
    if ((global_locks_.contain(lock) && is_plain(lock)) || is_kin(lock)) to.insert(lock);
  }
  for (const LockId lock : at_entry_[static_cast<std::size_t>(access.method)]) {
    const auto here = flow_[access.holds].find(lock);
    if (here != flow_[access.holds].end() && here->second.released) continue;
    const bool meant = core::is_of_any(locks_, lock)
                           ? is_kin(lock)
                           : owner == nullptr || global_locks_.are_held_for(*owner, lock);
    if (meant && is_plain(lock)) to.insert(lock);
  }
}

bool Candidates::is_locked(const Class& of) const {
  return std::ranges::any_of(flow_.locked_classes, [&](const std::string& name) {
    const Class* locked = classes_.find(name);
    return locked != nullptr && is_kin(of, *locked);
  });
}

bool Candidates::is_kin(const Class& one, const Class& other) const {
  return classes_.inherits(one, other.name) || classes_.inherits(other, one.name);
}

bool Candidates::is_part(const Class& of, LockId of_any) const {
  const auto at = owners_of_any_.find(of_any);
  if (at == owners_of_any_.end()) return false;
  const Class& owner = *at->second;
  // Of one's own class it would be another object's lock.
  if (is_kin(of, owner)) return false;
  return of.name.starts_with(owner.name + "::") && global_locks_.are_known_to(of, of_any);
}

bool Candidates::is_held_often(const Class& owner, LockId lock, const Accesses& accesses) const {
  std::optional<LockId> held = lock;
  if (!global_locks_.contain(lock) && !core::is_of_any(locks_, lock)) {
    held = classes_.of_any({.name = owner.name}, lock);
  }
  if (!held) return true;
  std::set<MethodId> holders;
  for (const Access* access : accesses) {
    requirements_.add_holders(access->method, flow_[access->holds], *held, holders);
    if (holders.size() >= kFewestHolders) return true;
  }
  return false;
}

std::int64_t Candidates::cost(const Field& field, const Class* owner, LockId lock,
                              const Accesses& accesses) const {
  const bool of_object = owner != nullptr && !field.is_static;
  const auto [root, length] = locks_.root(lock);
  if (locks_[root].kind == core::Lock::Kind::kGhost) return kGhostCost;
  std::int64_t cost = 0;
  if (core::is_of_any(locks_, lock)) {
    cost = kAnyCost;
  } else if (!global_locks_.contain(lock)) {
    if (length <= 1) return kOwnCost;
    cost = kOuterCost;
  } else {
    cost = global_locks_.are_beside(field.position, lock) ? kNearCost : kFarCost;
    if (of_object) {
      cost = GlobalLocks::are_needed_by(*owner, lock)   ? kToldFieldCost
             : global_locks_.are_known_to(*owner, lock) ? kNearFieldCost
                                                        : kFarFieldCost;
    }
  }
  const bool one_method = std::ranges::all_of(
      accesses, [&](const Access* access) { return access->method == accesses[0]->method; });
  return one_method ? cost + kOneMethodCost : cost;
}

std::optional<std::int64_t> Candidates::class_cost(const Class& of, LockId lock) const {
  if (core::is_of_any(locks_, lock)) {
    return kAnyClassCost;
  }
  if (global_locks_.contain(lock)) {
    return GlobalLocks::are_needed_by(of, lock)   ? kToldClassCost
           : global_locks_.are_known_to(of, lock) ? kNearClassCost
                                                  : kFarClassCost;
  }
  if (locks_.root(lock).second > 1) return kOuterClassCost;
  return std::nullopt;
}

}  // namespace tomos::infer
