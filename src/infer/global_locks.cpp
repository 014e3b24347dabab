#include "infer/global_locks.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/any_object.h"

namespace tomos::infer {

GlobalLocks::GlobalLocks(const Locks& locks, const Classes& classes, const Flow& flow)
    : locks_(locks), classes_(classes) {
  const auto note_held = [&](MethodId method, HoldsId at) {
    for (const auto& [lock, hold] : flow[at]) {
      if (hold.depth > 0) note(method, lock);
    }
  };
  for (const Access& access : flow.accesses) {
    note_held(access.method, access.holds);
    const core::Class* owner = classes.owner(*access.field);
    if (owner == nullptr) continue;
    for (const auto& [lock, hold] : flow[access.holds]) {
      if (hold.depth > 0) touched_.insert({owner, lock});
    }
  }
  for (const CallSite& site : flow.calls) note_held(site.caller, site.holds);
  for (const Holds& holds : flow.holds) {
    for (const auto& [lock, hold] : holds) {
      if (hold.depth > 0) taken_.insert(lock);
    }
  }
  has_methods_ = std::ranges::any_of(classes.program().classes,
                                     [](const core::Class& of) { return !of.methods.empty(); });
  for (const core::Class& of : classes.program().classes) {
    for (const core::Field& field : of.fields) {
      if (field.is_borrowed || field.type.name == of.name) continue;
      holders_[field.type.name].push_back(field.is_static ? nullptr : &of);
    }
  }
  for (const core::Field& global : classes.program().globals) {
    holders_[global.type.name].push_back(nullptr);
  }
  for (std::size_t i = 0; i < classes.method_count(); ++i) {
    const auto id = static_cast<MethodId>(i);
    for (const LockId lock : classes[id].method->requires_held) note(id, lock);
  }
}

void GlobalLocks::note(MethodId method, LockId lock) {
  if (method == kMain || !(contain(lock) || core::is_of_any(locks_, lock))) return;
  const core::Class* of = classes_[method].owner;
  while (of != nullptr && of_classes_.insert({of, lock}).second) of = outer_of(*of);
}

const core::Class* GlobalLocks::outer_of(const core::Class& of) const {
  const std::size_t end = of.name.rfind("::");
  return end == std::string::npos ? nullptr : classes_.find(of.name.substr(0, end));
}

bool GlobalLocks::contain(LockId lock) const {
  const core::Lock& root = locks_[locks_.root(lock).first];
  return root.kind == core::Lock::Kind::kVariable && root.name != "this" &&
         classes_.global(root.name) != nullptr;
}

bool GlobalLocks::are_known_to(const core::Class& of, LockId lock) const {
  // What is inside a class is its business, too.
  for (const core::Class* one = &of; one != nullptr; one = outer_of(*one)) {
    if (of_classes_.contains({one, lock})) return true;
    if (!contain(lock)) break;
  }
  if (!has_methods_) return are_beside(of.position, lock);
  // A part that only classes have which know the lock.
  const auto holders = holders_.find(of.name);
  return contain(lock) && holders != holders_.end() &&
         std::ranges::all_of(holders->second, [&](const core::Class* holder) {
           return holder != nullptr && of_classes_.contains({holder, lock});
         });
}

bool GlobalLocks::are_beside(const core::Position& at, LockId lock) const {
  const core::Field* global = classes_.global(locks_[locks_.root(lock).first].name);
  if (global == nullptr) return false;
  const std::vector<std::string>& files = classes_.program().files;
  const auto stem = [&](const core::Position& of) {
    const std::string& file = files[of.file];
    return std::string_view(file).substr(0, file.rfind('.'));
  };
  if (at.file >= files.size() || global->position.file >= files.size()) {
    return at.file == global->position.file;
  }
  return stem(at) == stem(global->position);
}

bool GlobalLocks::are_held_for(const core::Class& of, LockId lock) const {
  return touched_.contains({&of, lock}) || are_known_to(of, lock) || are_needed_by(of, lock);
}

bool GlobalLocks::are_only_asserted(const core::Class& of, LockId lock) const {
  return !taken_.contains(lock) &&
         std::ranges::none_of(of.methods, [&](const core::Method& method) {
           return method.is_given &&
                  std::ranges::find(method.requires_held, lock) != method.requires_held.end();
         });
}

bool GlobalLocks::are_needed_by(const core::Class& of, LockId lock) {
  return std::ranges::any_of(of.methods, [&](const core::Method& method) {
    return std::ranges::find(method.requires_held, lock) != method.requires_held.end();
  });
}

}  // namespace tomos::infer
