#include "infer/reach.h"

#include <map>
#include <string>
#include <vector>

namespace tomos::infer {

using core::Class;
using core::Field;

namespace {

// Seen in use by somebody who may not be the only one.
std::set<const Class*> shown(Locks& locks, const Classes& classes, const Flow& flow) {
  std::set<const Class*> shared;
  std::set<const Class*> confined;
  // What the methods of a class do to their own object says nothing.
  const auto see = [&](const Class* of, MethodId by, bool unshared, bool on_this) {
    const Class* user = by == kMain ? nullptr : classes[by].owner;
    const bool inside =
        on_this && of != nullptr && user != nullptr && classes.inherits(*user, of->name);
    if (of != nullptr && !inside) (unshared ? confined : shared).insert(of);
  };
  const LockId self = locks.variable("this");
  for (const Access& access : flow.accesses) {
    if (access.field->is_static) continue;
    see(classes.owner(*access.field), access.method, access.unshared,
        access.theta.find("this") == self);
  }
  for (const CallSite& site : flow.calls) {
    const MethodOf& callee = classes[site.callee];
    if (callee.method->kind == core::Method::Kind::kConstructor) continue;
    see(callee.owner, site.caller, site.unshared, site.on_this);
  }
  for (const MethodId method : flow.leaking) {
    if (method != kMain) shared.insert(classes[method].owner);
  }
  // What is used by nobody here is used by others.
  for (const Class& of : classes.program().classes) {
    if (!confined.contains(&of)) shared.insert(&of);
  }
  // A base is seen when an object is, and the other way round.
  for (bool more = true; more;) {
    more = false;
    for (const Class& of : classes.program().classes) {
      for (const Type& type : of.bases) {
        const Class* base = classes.find(type.name);
        if (base == nullptr || shared.contains(base) == shared.contains(&of)) continue;
        shared.insert(base);
        shared.insert(&of);
        more = true;
      }
    }
  }
  return shared;
}

class Reach {
 public:
  explicit Reach(const Classes& classes) : classes_(classes) {
    for (const Class& of : classes.program().classes) {
      for (const Type& base : of.bases) derived_[base.name].push_back(&of);
    }
  }

  std::set<const Class*> reached;

  // Somebody has an object that is at least that.
  void named(const std::string& name) {
    const Class* of = classes_.find(name);
    if (of == nullptr || !named_.insert(of).second) return;
    add(*of);
    const auto below = derived_.find(name);
    if (below == derived_.end()) return;
    for (const Class* one : below->second) named(one->name);
  }

  void kept_in(const Field& field) {
    named(field.type.name);
    for (const std::string& one : field.keeps) named(one);
  }

 private:
  // The parts of an object are those of its bases, too.
  void add(const Class& of) {
    if (!reached.insert(&of).second) return;
    for (const Field& field : of.fields) {
      if (!field.is_static) kept_in(field);
    }
    for (const Type& base : of.bases) {
      if (const Class* above = classes_.find(base.name)) add(*above);
    }
  }

  const Classes& classes_;
  std::map<std::string, std::vector<const Class*>> derived_;
  std::set<const Class*> named_;
};

// Of which some object is made here. What nobody makes comes from outside, where others know of it.
std::set<const Class*> made_classes(const Classes& classes) {
  std::set<const Class*> made;
  const auto add = [&](const auto& self, const Class* of) -> void {
    if (of == nullptr || !made.insert(of).second) return;
    for (const Type& base : of->bases) self(self, classes.find(base.name));
  };
  for (const core::Expr& one : classes.program().exprs) {
    if (one.kind == core::Expr::Kind::kNew) add(add, classes.find(one.type.name));
  }
  return made;
}

}  // namespace

std::set<const Class*> reached_classes(Locks& locks, const Classes& classes, const Flow& flow) {
  Reach reach(classes);
  const core::Program& program = classes.program();
  const std::set<const Class*> made = made_classes(classes);
  for (const Field& global : program.globals) reach.kept_in(global);
  for (const Class& of : program.classes) {
    if (of.is_kept || !made.contains(&of)) reach.named(of.name);
    for (const Field& field : of.fields) {
      if (field.is_static) reach.kept_in(field);
      if (!field.is_static && flow.lock_fields.contains(&field)) reach.named(of.name);
    }
  }
  for (const std::string& name : flow.locked_classes) reach.named(name);
  for (const CallSite& site : flow.calls) {
    if (!site.forked) continue;
    const MethodOf& callee = classes[site.callee];
    if (callee.owner != nullptr) reach.named(callee.owner->name);
    for (const core::Parameter& one : callee.method->parameters) reach.named(one.type.name);
  }
  std::set<const Class*> both;
  for (const Class* of : shown(locks, classes, flow)) {
    if (reach.reached.contains(of)) both.insert(of);
  }
  return both;
}

}  // namespace tomos::infer
