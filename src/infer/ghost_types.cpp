#include "infer/ghost_types.h"

#include <algorithm>

#include "infer/ghost_fields.h"
#include "infer/ghost_typing.h"

namespace tomos::infer {

using core::Class;

Families::Families(const core::Program& program) {
  for (const Class& of : program.classes) parents_.emplace(of.name, of.name);
  for (const Class& of : program.classes) {
    for (const Type& base : of.bases) {
      if (parents_.contains(base.name)) parents_[this->of(of.name)] = this->of(base.name);
    }
  }
}

std::string Families::of(const std::string& class_name) const {
  auto at = parents_.find(class_name);
  while (at != parents_.end() && at->second != at->first) at = parents_.find(at->second);
  return at == parents_.end() ? "" : at->first;
}

namespace {

// Somewhere a lock must be what the ghost parameter stands for.
std::set<std::string> groundless(const GhostTypes& types, const Classes& classes,
                                 const Families& families) {
  std::set<std::string> open;
  for (const auto& [family, use] : types.families) {
    if (use == GhostUse::kGuards) open.insert(family);
  }
  for (bool more = true; more;) {
    more = false;
    for (const auto& [field, lock] : types.fields) {
      if (lock == Locks::kNone || lock == Locks::kAlways) continue;
      const core::Class* owner = lock == types.ghost ? classes.owner(*field) : nullptr;
      if (owner != nullptr && open.contains(families.of(owner->name))) continue;
      more |= open.erase(families.of(field->type.name)) > 0;
    }
  }
  return open;
}

// What inherits a part that is under the lock of its owner cannot do without.
std::set<std::string> unguarded(const GhostTypes& types, Classes& classes,
                                const Families& families) {
  std::set<std::string> found;
  for (const std::string& name : types.exempt) {
    for (const FieldUse& use : classes.all_fields({.name = name}, Locks::kUnknown)) {
      const auto at = types.fields.find(use.field);
      if (at != types.fields.end() && at->second == types.ghost) found.insert(families.of(name));
    }
  }
  return found;
}

// Those that have locks of their own, and inherit nothing that would need another.
std::set<std::string> exempt_classes(const Classes& classes, const Flow& flow,
                                     const GhostFamilies& wanted, const Families& families) {
  std::set<std::string> found;
  const auto changes = [&](const auto& self, const Class& of) -> bool {
    return std::ranges::any_of(of.bases, [&](const Type& type) {
      const Class* base = classes.find(type.name);
      if (base == nullptr) return false;
      return self(self, *base) || std::ranges::any_of(base->fields, [&](const core::Field& field) {
               return flow.changing.contains(&field);
             });
    });
  };
  for (const Class& of : classes.program().classes) {
    const auto use = wanted.find(families.of(of.name));
    if (use == wanted.end() || use->second != GhostUse::kGuards || of.bases.empty()) continue;
    const bool has_locks = flow.locked_classes.contains(of.name) ||
                           std::ranges::any_of(of.fields, [&](const core::Field& field) {
                             return flow.lock_fields.contains(&field);
                           });
    if (has_locks && !changes(changes, of)) found.insert(of.name);
  }
  for (const Class& of : classes.program().classes) {
    for (const Type& base : of.bases) found.erase(base.name);  // of which others may need it
  }
  return found;
}

}  // namespace

GhostTypes ghost_types(const core::Program& program, Locks& locks, Classes& classes,
                       const Flow& flow, Requirements& requirements, const GhostFamilies& wanted,
                       Nulls nulls) {
  const Families families(program);
  GhostFamilies open = wanted;
  FreeNames names(program);
  // In sources nobody wrote a name for it down.
  const LockId ghost = locks.ghost(names.make(nulls == Nulls::kNone ? "x" : "owner_lock"));
  const std::set<std::string> exempt = exempt_classes(classes, flow, wanted, families);
  std::set<std::string> given_up;
  GhostFields fields(locks, classes, flow, requirements, families, ghost);
  while (!open.empty()) {
    GhostTypes made = {.families = open, .exempt = exempt, .ghost = ghost};
    std::set<std::string> failed = fields.choose(open, given_up, exempt, made.fields);
    if (failed.empty() && open != made.families) continue;  // more of them are wanted
    if (failed.empty()) failed = groundless(made, classes, families);
    if (failed.empty()) failed = unguarded(made, classes, families);
    if (failed.empty()) {
      FreeNames for_methods = names;
      failed = type_ghosts(program, locks, classes, flow, families, nulls, for_methods, made);
    }
    if (failed.empty()) return made;
    for (const std::string& family : failed) {
      open.erase(family);
      given_up.insert(family);
    }
  }
  return {};
}

}  // namespace tomos::infer
