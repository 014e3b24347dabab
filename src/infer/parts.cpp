#include "infer/parts.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "core/any_object.h"

namespace tomos::infer {

using core::Class;
using core::Field;
using core::Guard;

namespace {

struct Holder {
  const Field* field = nullptr;
  const Class* owner = nullptr;  // none: a global, or static
};

bool is_by_lock(const Guard& guard) {
  return guard.kind == Guard::Kind::kGuardedBy || guard.kind == Guard::Kind::kWriteGuardedBy;
}

using Holders = std::map<const Class*, std::vector<Holder>>;

void add_holder(const Classes& classes, const Class& held, const Holder& by, Holders& to) {
  to[&held].push_back(by);
  for (const Type& base : held.bases) {
    if (const Class* above = classes.find(base.name)) add_holder(classes, *above, by, to);
  }
}

// Who has objects of each class, or of one derived from it.
Holders find_holders(const Classes& classes) {
  Holders holders;
  const auto add = [&](const Field& field, const Class* owner) {
    const Class* held = classes.find(field.type.name);
    if (held == nullptr || held == owner || field.is_borrowed) return;
    add_holder(classes, *held, {&field, field.is_static ? nullptr : owner}, holders);
  };
  for (const Class& of : classes.program().classes) {
    for (const Field& field : of.fields) add(field, &of);
  }
  for (const Field& global : classes.program().globals) add(global, nullptr);
  return holders;
}

// Which classes take which locks in their methods.
std::set<std::pair<const Class*, LockId>> find_takers(const Classes& classes, const Flow& flow) {
  std::set<std::pair<const Class*, LockId>> takers;
  const auto note = [&](MethodId method, HoldsId at) {
    if (method == kMain) return;
    for (const auto& [lock, hold] : flow[at]) {
      if (hold.depth > 0) takers.emplace(classes[method].owner, lock);
    }
  };
  for (const Access& access : flow.accesses) note(access.method, access.holds);
  for (const CallSite& site : flow.calls) note(site.caller, site.holds);
  return takers;
}

}  // namespace

std::set<const Field*> fields_of_parts(const Locks& locks, const Classes& classes,
                                       const Flow& flow) {
  std::set<const Field*> found;
  const Holders holders = find_holders(classes);
  const auto takers = find_takers(classes, flow);
  const auto is_under = [&](const Holder& holder, LockId lock) {
    const Guard& guard = holder.field->guard;
    return is_by_lock(guard) && (guard.lock == lock ||
                                 (holder.owner != nullptr &&
                                  classes.of_any({.name = holder.owner->name}, guard.lock) == lock));
  };
  for (const auto& [of, by] : holders) {
    for (const Field& field : of->fields) {
      if (field.is_static || field.is_given || !is_by_lock(field.guard)) continue;
      const LockId lock = field.guard.lock;
      const core::Lock& root = locks[locks.root(lock).first];
      const bool others = root.kind == core::Lock::Kind::kVariable && root.name != "this";
      if (!others || takers.contains({of, lock})) continue;
      if (std::ranges::all_of(by, [&](const Holder& one) { return is_under(one, lock); })) {
        found.insert(&field);
      }
    }
  }
  return found;
}

}  // namespace tomos::infer
