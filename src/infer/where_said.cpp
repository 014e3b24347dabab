#include "infer/where_said.h"

#include <algorithm>
#include <map>
#include <set>
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

// Fields that lead to objects and that one method uses, apart from what nobody else can see yet.
std::set<const Field*> find_used_by_one(const Classes& classes, const Flow& flow) {
  std::map<const Field*, std::set<MethodId>> users;
  for (const Access& access : flow.accesses) {
    if (!access.unshared && !flow.spare.contains(access.method)) {
      users[access.field].insert(access.method);
    }
  }
  std::set<const Field*> found;
  for (const auto& [field, methods] : users) {
    if (methods.size() == 1 && classes.find(field->type.name) != nullptr) found.insert(field);
  }
  return found;
}

// The field at the end of a lock expression that begins at a type, or the global that it is.
class Ends {
 public:
  Ends(Classes& classes, const Locks& locks) : classes_(classes), locks_(locks) {}

  const Field* of(LockId lock, const Class* owner) {
    const auto [root, length] = locks_.root(lock);
    const Field* global = classes_.global(locks_[root].name);
    if (length == 0) return global;
    std::optional<Type> type;
    if (locks_[root].name == "this") {
      if (owner != nullptr) type = classes_.self_type(*owner);
    } else if (global != nullptr) {
      type = global->type;
    }
    return type ? walk(*type, lock) : nullptr;
  }

 private:
  const Field* walk(const Type& root, LockId lock) {
    const core::Lock of = locks_[lock];
    Type above = root;
    if (locks_[of.base].kind == core::Lock::Kind::kField) {
      const Field* before = walk(root, of.base);
      if (before == nullptr) return nullptr;
      above = before->type;
    }
    const auto use = classes_.field(above, of.base, of.name);
    return use ? use->field : nullptr;
  }

  Classes& classes_;
  const Locks& locks_;
};

// Where most guards are by locks with attributes, there are no words for the others.
void leave_unsayable(core::Program& program, Classes& classes) {
  Ends ends(classes, program.locks);
  std::vector<Guard*> unsayable;
  std::size_t sayable = 0;
  const auto look = [&](Field& field, const Class* owner) {
    if (!is_by_lock(field.guard) || field.guard.said != Guard::Said::kHere) return;
    const Field* lock = ends.of(field.guard.lock, owner);
    if (lock == nullptr || lock->is_role) return;
    if (lock->is_capability) ++sayable;
    if (!lock->is_capability && !field.is_given) unsayable.push_back(&field.guard);
  };
  for (Class& of : program.classes) {
    for (Field& field : of.fields) look(field, &of);
  }
  for (Field& global : program.globals) look(global, nullptr);
  if (unsayable.size() >= sayable) return;
  for (Guard* guard : unsayable) guard->said = Guard::Said::kUnsayable;
  for (std::size_t i = 0; i < classes.method_count(); ++i) {
    const auto id = static_cast<MethodId>(i);
    const MethodOf& of = classes[id];
    if (of.method->is_given) continue;
    for (const LockId lock : of.method->requires_held) {
      const Field* end = ends.of(lock, of.owner);
      if (end == nullptr || end->is_capability || end->is_role) continue;
      mutable_method(program, id).unsaid.push_back(lock);
    }
  }
}

}  // namespace

void say_where(core::Program& program, Classes& classes, const Flow& flow) {
  const Locks& locks = program.locks;
  const Holders holders = find_holders(classes);
  const auto takers = find_takers(classes, flow);
  const auto used_by_one = find_used_by_one(classes, flow);
  const auto is_under = [&](const Holder& holder, LockId lock) {
    const Guard& guard = holder.field->guard;
    return is_by_lock(guard) && (guard.lock == lock || (holder.owner != nullptr &&
                                                        classes.of_any({.name = holder.owner->name},
                                                                       guard.lock) == lock));
  };
  const auto is_of_part = [&](const Class& of, LockId lock) {
    const core::Lock& root = locks[locks.root(lock).first];
    const auto held = holders.find(&of);
    const bool others = root.kind == core::Lock::Kind::kVariable && root.name != "this";
    return others && held != holders.end() && !takers.contains({&of, lock}) &&
           std::ranges::all_of(held->second,
                               [&](const Holder& one) { return is_under(one, lock); });
  };
  // Who was given a lock was given it for what is beside it.
  const auto is_given_lock = [&](const Class& of, LockId lock) {
    return std::ranges::any_of(of.fields, [&](const Field& one) {
      return one.is_borrowed && locks.root(lock).second == 1 && one.name == locks[lock].name;
    });
  };
  for (Class& of : program.classes) {
    for (Field& field : of.fields) {
      field.guard.said = Guard::Said::kHere;
      if (field.is_static || field.is_given || !is_by_lock(field.guard)) continue;
      if (is_of_part(of, field.guard.lock)) {
        field.guard.said = Guard::Said::kByHolder;
      } else if (used_by_one.contains(&field) && !is_given_lock(of, field.guard.lock)) {
        field.guard.said = Guard::Said::kInMethod;
      }
    }
  }
  leave_unsayable(program, classes);
}

}  // namespace tomos::infer
