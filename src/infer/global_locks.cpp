#include "infer/global_locks.h"

#include <algorithm>
#include <cstddef>
#include <map>

namespace tomos::infer {

GlobalLocks::GlobalLocks(const Locks& locks, const Classes& classes, const Flow& flow)
    : locks_(locks), classes_(classes) {
  const auto note_held = [&](MethodId method, HoldsId at) {
    for (const auto& [lock, hold] : flow[at]) {
      if (hold.depth > 0) note(method, lock);
    }
  };
  std::map<const core::Field*, const core::Class*> owners;
  for (const core::Class& of : classes.program().classes) {
    for (const core::Field& field : of.fields) owners[&field] = &of;
  }
  for (const Access& access : flow.accesses) {
    note_held(access.method, access.holds);
    const auto owner = owners.find(access.field);
    if (owner == owners.end()) continue;
    for (const auto& [lock, hold] : flow[access.holds]) {
      if (hold.depth > 0) touched_.insert({owner->second, lock});
    }
  }
  for (const CallSite& site : flow.calls) note_held(site.caller, site.holds);
  for (std::size_t i = 0; i < classes.method_count(); ++i) {
    const auto id = static_cast<MethodId>(i);
    for (const LockId lock : classes[id].method->requires_held) note(id, lock);
  }
}

void GlobalLocks::note(MethodId method, LockId lock) {
  if (method == kMain || !contain(lock)) return;
  const MethodOf& of = classes_[method];
  if (of.owner != nullptr) of_classes_.insert({of.owner, lock});
}

bool GlobalLocks::contain(LockId lock) const {
  const core::Lock& root = locks_[locks_.root(lock).first];
  return root.kind == core::Lock::Kind::kVariable && root.name != "this" &&
         classes_.global(root.name) != nullptr;
}

bool GlobalLocks::are_known_to(const core::Class& of, LockId lock) const {
  const core::Field* global = classes_.global(locks_[locks_.root(lock).first].name);
  return global->position.file == of.position.file || of_classes_.contains({&of, lock});
}

bool GlobalLocks::are_held_for(const core::Class& of, LockId lock) const {
  return touched_.contains({&of, lock}) || are_known_to(of, lock) || are_needed_by(of, lock);
}

bool GlobalLocks::are_needed_by(const core::Class& of, LockId lock) {
  return std::ranges::any_of(of.methods, [&](const core::Method& method) {
    return std::ranges::find(method.requires_held, lock) != method.requires_held.end();
  });
}

}  // namespace tomos::infer
