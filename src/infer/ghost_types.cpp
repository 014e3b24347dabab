#include "infer/ghost_types.h"

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
      if (lock == Locks::kNone) continue;
      const core::Class* owner = lock == types.ghost ? classes.owner(*field) : nullptr;
      if (owner != nullptr && open.contains(families.of(owner->name))) continue;
      more |= open.erase(families.of(field->type.name)) > 0;
    }
  }
  return open;
}

}  // namespace

GhostTypes ghost_types(const core::Program& program, Locks& locks, Classes& classes,
                       const Flow& flow, const Requirements& requirements,
                       const GhostFamilies& wanted, Nulls nulls) {
  const Families families(program);
  GhostFamilies open = wanted;
  FreeNames names(program);
  // In sources nobody wrote a name for it down.
  const LockId ghost = locks.ghost(names.make(nulls == Nulls::kNone ? "x" : "owner_lock"));
  std::set<std::string> given_up;
  GhostFields fields(locks, classes, flow, requirements, families, ghost);
  while (!open.empty()) {
    GhostTypes made = {.families = open, .ghost = ghost};
    std::set<std::string> failed = fields.choose(open, given_up, made.fields);
    if (failed.empty() && open != made.families) continue;  // more of them are wanted
    if (failed.empty()) failed = groundless(made, classes, families);
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
