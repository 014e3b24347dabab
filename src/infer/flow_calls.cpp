#include "infer/flow_calls.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

namespace tomos::infer {

using core::Method;

std::set<MethodId> initialising_methods(const Flow& flow, const Classes& classes) {
  std::set<MethodId> found;
  std::map<MethodId, std::vector<const CallSite*>> calls;
  for (const CallSite& site : flow.calls) calls[site.callee].push_back(&site);
  for (const auto& [id, sites] : calls) {
    const Method& of = *classes[id].method;
    if (of.is_private && of.kind == Method::Kind::kMethod) found.insert(id);
  }
  const auto is_initial = [&](const CallSite* site) {
    if (!site->on_this || site->forked || site->caller == kMain) return false;
    return found.contains(site->caller) ||
           classes[site->caller].method->kind == Method::Kind::kConstructor;
  };
  while (std::erase_if(
             found, [&](MethodId id) { return !std::ranges::all_of(calls[id], is_initial); }) > 0) {
  }
  return found;
}

std::map<MethodId, std::vector<MethodId>> find_overridden(Classes& classes, Locks& locks) {
  std::map<MethodId, std::vector<MethodId>> found;
  const LockId self = locks.variable("this");
  for (std::size_t i = 0; i < classes.method_count(); ++i) {
    const auto id = static_cast<MethodId>(i);
    const MethodOf& of = classes[id];
    if (of.owner == nullptr || of.method->kind != Method::Kind::kMethod) continue;
    std::vector<Type> above = classes.bases(classes.self_type(*of.owner), self);
    for (std::size_t j = 0; j < above.size(); ++j) {
      const Type base = above[j];
      for (Type& next : classes.bases(base, self)) above.push_back(std::move(next));
      const core::Class* owner = classes.find(base.name);
      if (owner == nullptr) continue;
      const auto use = classes.method(base, self, of.method->name);
      if (use && classes[use->method].owner == owner) found[id].push_back(use->method);
    }
  }
  return found;
}

std::set<const core::Field*> changing_fields(const Flow& flow,
                                             const std::set<MethodId>& initialising, Locks& locks) {
  std::set<const core::Field*> found;
  const LockId self = locks.variable("this");
  for (const Access& access : flow.accesses) {
    if (access.kind == Access::Kind::kRead || access.unshared) continue;
    const bool initial = initialising.contains(access.method) &&
                         access.theta.find("this") == self && flow[access.holds].empty();
    if (!initial) found.insert(access.field);
  }
  return found;
}

std::set<const core::Field*> wandering_fields(const Flow& flow, const Classes& classes) {
  std::set<const core::Field*> found;
  std::map<const core::Field*, std::set<ExprId>> writes;
  for (const Access& access : flow.accesses) {
    // An object that is part of another is changed, but stays the same object: an update. So may a
    // pointer be whose address somebody has; that is taken for the same thing.
    if (access.kind != Access::Kind::kWrite || access.unshared || access.empties) continue;
    if (!flow.changing.contains(access.field)) continue;
    found.insert(access.field);
    writes[access.field].insert(access.expr);
  }
  std::erase_if(found, [&](const core::Field* field) {
    const bool leads_to_lock =
        !classes.is_reentrant(field->type) || field->type.name == "recursive_mutex";
    return leads_to_lock && writes[field].size() == 1;
  });
  return found;
}

std::set<const core::Class*> locking_classes(const Flow& flow, const Classes& classes) {
  std::set<const core::Class*> found;
  std::map<const core::Class*, std::vector<const core::Class*>> derived;
  for (const core::Class& of : classes.program().classes) {
    const bool has_locks = std::ranges::any_of(of.fields, [&](const core::Field& field) {
      return flow.lock_fields.contains(&field) && !field.is_borrowed;
    });
    if (has_locks || flow.locked_classes.contains(of.name)) found.insert(&of);
    for (const core::Type& base : of.bases) {
      if (const core::Class* above = classes.find(base.name)) derived[above].push_back(&of);
    }
  }
  for (bool more = true; more;) {
    more = false;
    for (const auto& [above, all] : derived) {
      if (found.contains(above)) continue;
      more |= std::ranges::all_of(all, [&](const auto* of) { return found.contains(of); }) &&
              found.insert(above).second;
    }
  }
  return found;
}

std::set<MethodId> spare_instantiations(const Flow& flow, const Classes& classes) {
  // A macro may make several methods at one place.
  using Source =
      std::tuple<const core::Class*, std::uint32_t, std::uint32_t, std::uint32_t, std::string_view>;
  std::map<Source, std::vector<MethodId>> instantiations;
  for (std::size_t i = 0; i < classes.method_count(); ++i) {
    const auto id = static_cast<MethodId>(i);
    const Method& of = *classes[id].method;
    const core::Position& at = of.position;
    std::string_view name = of.display;
    name.remove_prefix(name.rfind(':') + 1);  // of npos, nothing
    instantiations[{classes[id].owner, at.file, at.line, at.column, name}].push_back(id);
  }
  std::vector<bool> is_used(classes.method_count());
  std::vector<MethodId> open;
  const auto use = [&](MethodId id) {
    if (!is_used[static_cast<std::size_t>(id)]) open.push_back(id);
    is_used[static_cast<std::size_t>(id)] = true;
  };
  for (const auto& [source, all] : instantiations) {
    if (all.size() == 1) use(all[0]);
  }
  std::map<MethodId, std::vector<MethodId>> callees;
  for (const CallSite& site : flow.calls) {
    if (site.caller == kMain) use(site.callee);
    if (site.caller != kMain) callees[site.caller].push_back(site.callee);
  }
  while (!open.empty()) {
    const MethodId next = open.back();
    open.pop_back();
    for (const MethodId callee : callees[next]) use(callee);
  }
  std::set<MethodId> found;
  for (const auto& [source, all] : instantiations) {
    const auto used = [&](MethodId id) { return is_used[static_cast<std::size_t>(id)]; };
    if (!std::ranges::any_of(all, used)) continue;
    std::ranges::copy_if(all, std::inserter(found, found.end()), std::not_fn(used));
  }
  return found;
}

const core::Expr& value_of(const core::Program& program, ExprId id) {
  const core::Expr& of = program[id];
  const bool leads_on = of.kind == core::Expr::Kind::kSequence && !of.children.empty();
  return leads_on ? value_of(program, of.children.back()) : of;
}

namespace {

// A way by which a method might acquire a lock is often one that is never gone: behind a pointer to
// a function, in what prints a failure. If somebody holds the lock and calls it, it is taken to
// know better; and so of what it calls.
void doubt_excluded(Flow& flow, Locks& locks) {
  std::map<MethodId, std::vector<LockId>> indirect;
  for (const MethodLock& one : flow.excluded) {
    if (!flow.acquiring.contains(one)) indirect[one.method].push_back(one.lock);
  }
  std::map<MethodId, std::vector<const CallSite*>> calls_by;
  std::set<MethodLock> held;
  std::vector<MethodLock> open;
  const auto see = [&](const CallSite& site, const auto& is_held) {
    const auto excluded = indirect.find(site.callee);
    if (excluded == indirect.end()) return;
    for (const LockId lock : excluded->second) {
      if (!is_held(substitute(locks, site.theta, lock))) continue;
      const MethodLock one = {.method = site.callee, .lock = lock};
      if (held.insert(one).second) open.push_back(one);
    }
  };
  for (const CallSite& site : flow.calls) {
    if (site.forked) continue;
    if (site.caller != kMain) calls_by[site.caller].push_back(&site);
    see(site, [&](LockId lock) {
      const auto at = flow[site.holds].find(lock);
      return at != flow[site.holds].end() && at->second.depth > 0;
    });
  }
  while (!open.empty()) {
    const MethodLock next = open.back();
    open.pop_back();
    for (const CallSite* site : calls_by[next.method]) {
      see(*site,
          [&](LockId lock) { return lock == next.lock && !flow[site->holds].contains(lock); });
    }
  }
  for (const MethodLock& one : held) flow.excluded.erase(one);
}

}  // namespace

void exclude_for_callers(Flow& flow, const Classes& classes, Locks& locks) {
  std::map<MethodId, std::vector<const CallSite*>> calls;
  for (const CallSite& site : flow.calls) {
    if (!site.forked && site.caller != kMain) calls[site.callee].push_back(&site);
  }
  std::vector<MethodLock> open(flow.excluded.begin(), flow.excluded.end());
  while (!open.empty()) {
    const MethodLock next = open.back();
    open.pop_back();
    for (const CallSite* site : calls[next.method]) {
      const LockId here = substitute(locks, site->theta, next.lock);
      if (here == Locks::kUnknown || flow[site->holds].contains(here)) continue;
      if (locks.root(here).second > kMostFields) continue;
      if (classes.is_local(site->caller, here)) continue;
      const MethodLock caller = {.method = site->caller, .lock = here};
      if (flow.excluded.insert(caller).second) open.push_back(caller);
    }
  }
  doubt_excluded(flow, locks);
}

}  // namespace tomos::infer
