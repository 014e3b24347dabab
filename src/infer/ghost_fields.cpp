#include "infer/ghost_fields.h"

#include <algorithm>
#include <utility>

#include "core/any_object.h"

namespace tomos::infer {

using core::Class;
using core::Field;

GhostFields::GhostFields(Locks& locks, Classes& classes, const Flow& flow,
                         Requirements& requirements, const Families& families, LockId ghost)
    : locks_(locks),
      classes_(classes),
      flow_(flow),
      requirements_(requirements),
      families_(families),
      ghost_(ghost) {
  for (const Access& access : flow.accesses) {
    if (!access.unshared) accesses_[access.field].push_back(&access);
  }
}

std::set<std::string> GhostFields::choose(GhostFamilies& families,
                                          const std::set<std::string>& given_up,
                                          const std::set<std::string>& exempt,
                                          std::map<const Field*, LockId>& to) {
  std::set<std::string> failed;
  const GhostFamilies wanted = families;
  const auto add = [&](const Field& field, const Class* owner) {
    const std::string family = families_.of(field.type.name);
    const auto at = wanted.find(family);
    if (at == wanted.end()) return;
    const Class* of = field.is_static ? nullptr : owner;
    std::optional<LockId> lock;
    if (exempt.contains(field.type.name)) lock = Locks::kAlways;
    const bool looks_after_itself = of != nullptr && exempt.contains(of->name);
    // Inside one object of many parts, all are under the lock of the whole.
    if (!lock && of != nullptr && !looks_after_itself && families_.of(of->name) == family) {
      lock = ghost_;
    }
    if (!lock && of != nullptr && !looks_after_itself && accesses_[&field].empty() &&
        wanted.contains(families_.of(of->name))) {
      lock = ghost_;
    }
    if (!lock) lock = lock_for(field, of, at->second);
    if (!lock && of != nullptr && !looks_after_itself &&
        !given_up.contains(families_.of(of->name))) {
      lock = ghost_;
      families.try_emplace(families_.of(of->name), at->second);
    }
    if (lock) {
      to[&field] = *lock;
    } else {
      failed.insert(family);
    }
  };
  for (const Class& of : classes_.program().classes) {
    for (const Field& field : of.fields) add(field, &of);
  }
  for (const Field& global : classes_.program().globals) add(global, nullptr);
  return failed;
}

std::optional<LockId> GhostFields::lock_for(const Field& field, const Class* owner, GhostUse use) {
  const std::vector<const Access*>& accesses = accesses_[&field];
  const std::vector<LockId> possible = candidates(field, owner);
  // What nobody uses may be under any lock.
  if (accesses.empty() && use == GhostUse::kGuards) {
    return possible.empty() ? Locks::kNone : possible.front();
  }
  Held best;
  for (const LockId lock : possible) {
    const auto times = static_cast<std::size_t>(std::ranges::count_if(
        accesses, [&](const Access* access) { return is_held(lock, owner, *access); }));
    if (times > best.times) best = {.lock = lock, .times = times};
  }
  // A lock need not be protected.
  if (use == GhostUse::kProtects && best.times < accesses.size()) return Locks::kNone;
  if (best.times > 0) return best.lock;
  return use == GhostUse::kProtects ? std::optional(Locks::kNone) : std::nullopt;
}

// The nearest first: those of the object, then those that all can name.
std::vector<LockId> GhostFields::candidates(const Field& field, const Class* owner) {
  std::vector<LockId> own;
  std::vector<LockId> global;
  const auto add = [](std::vector<LockId>& to, LockId lock) {
    if (std::ranges::find(to, lock) == to.end()) to.push_back(lock);
  };
  if (owner != nullptr) {
    const LockId self = locks_.variable("this");
    for (const FieldUse& use : classes_.all_fields({.name = owner->name}, self)) {
      if (flow_.lock_fields.contains(use.field)) add(own, locks_.field(self, use.field->name));
    }
  }
  for (const Access* access : accesses_[&field]) {
    for (const auto& [lock, hold] : flow_[access->holds]) {
      if (hold.depth == 0 || core::is_of_any(locks_, lock) || lock == Locks::kThread) continue;
      if (classes_.global(locks_[locks_.root(lock).first].name) != nullptr) {
        add(global, lock);
      } else if (const auto seen = from_object(lock, *access); owner != nullptr && seen) {
        add(own, *seen);
      }
    }
  }
  std::ranges::copy(global, std::back_inserter(own));
  return own;
}

// A lock in the words of the object whose field is accessed; none by way of that field.
std::optional<LockId> GhostFields::from_object(LockId lock, const Access& access) const {
  const auto object = access.theta.find("this");
  if (!object || *object == Locks::kUnknown) return std::nullopt;
  std::vector<std::string> names;
  for (; lock != *object; lock = locks_[lock].base) {
    if (locks_[lock].kind != core::Lock::Kind::kField) return std::nullopt;
    names.push_back(locks_[lock].name);
  }
  if (!names.empty() && names.back() == access.field->name) return std::nullopt;
  LockId made = locks_.variable("this");
  while (!names.empty()) {
    made = locks_.field(made, names.back());
    names.pop_back();
  }
  return made;
}

// By the method or by somebody who calls it, as far as that can be followed.
bool GhostFields::is_held(LockId lock, const Class* owner, const Access& access) {
  const Holds& holds = flow_[access.holds];
  const auto at = holds.find(substitute(locks_, access.theta, lock));
  if (at != holds.end()) return at->second.depth > 0;
  std::optional<LockId> any = lock;
  if (locks_[locks_.root(lock).first].name == "this") {
    any = owner == nullptr ? std::nullopt : classes_.of_any({.name = owner->name}, lock);
  }
  if (!any) return false;
  const auto here = holds.find(*any);
  return (here != holds.end() && here->second.depth > 0) ||
         requirements_.is_reached_under(access.method, *any);
}

}  // namespace tomos::infer
