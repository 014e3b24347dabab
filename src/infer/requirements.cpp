#include "infer/requirements.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "core/any_object.h"
#include "infer/flow_calls.h"

namespace tomos::infer {

using core::Class;
using core::Method;

namespace {

// The prices of disciplines, in the units of guards.cpp: a read in order is worth 2.
constexpr std::int64_t kPrivateCost = 1;
constexpr std::int64_t kPublicCost = 2;
// A method that nobody calls here is called by others, who know nothing of a lock.
constexpr std::int64_t kUncalledPrivateCost = 24;
constexpr std::int64_t kUncalledCost = 40;
constexpr std::int64_t kBrokenCall = 10;
// One mistake among so many calls is a mistake, as with accesses.
constexpr std::int64_t kHeldForOneBroken = 14;

}  // namespace

Requirements::Requirements(Locks& locks, Classes& classes, const Flow& flow)
    : locks_(locks), classes_(classes), flow_(flow) {
  for (const CallSite& site : flow.calls) {
    if (flow.spare.contains(site.caller)) continue;
    calls_[site.callee].push_back(&site);
    called_.insert(site.callee);
    if (site.forked) forked_.insert(site.callee);
  }
  for (const Holds& holds : flow.holds) {
    for (const auto& [lock, hold] : holds) {
      if (hold.shared) with_readers_.insert(locks[lock].name);
    }
  }
  overridden_ = find_overridden(classes_, locks_);
  find_back_pointers();
  // Whoever calls a method may get an override.
  for (const auto& [own, above] : overridden_) {
    for (const MethodId one : above) {
      if (calls_.contains(one)) called_.insert(own);
      if (forked_.contains(one)) forked_.insert(own);
    }
  }
  for (std::size_t i = 0; i < classes.method_count(); ++i) {
    sites_.push_back(find_sites(static_cast<MethodId>(i)));
  }
  for (std::size_t i = 0; i < classes.method_count(); ++i) {
    const auto id = static_cast<MethodId>(i);
    const Method& of = *classes[id].method;
    const auto fix = [&](LockId lock) {
      const std::size_t index = require({.method = id, .lock = lock});
      list_[index].is_fixed = true;
    };
    for (const LockId lock : of.requires_held) fix(lock);
    for (const LockId lock : of.releases) fix(lock);
    const auto found = flow.releases.find(id);
    if (found == flow.releases.end()) continue;
    for (const LockId lock : found->second) fix(lock);
  }
}

bool Requirements::is_global(LockId lock) const {
  const core::Lock& root = locks_[locks_.root(lock).first];
  return root.kind == core::Lock::Kind::kVariable && root.name != "this" &&
         classes_.global(root.name) != nullptr;
}

// Those that can run it, be it as an override. What is done to objects that nobody else can see
// says nothing, if there is anything else.
std::vector<const CallSite*> Requirements::find_sites(MethodId method) const {
  std::vector<const CallSite*> found;
  const auto add = [&](MethodId of) {
    const auto calls = calls_.find(of);
    if (calls != calls_.end())
      found.insert(found.end(), calls->second.begin(), calls->second.end());
  };
  add(method);
  if (const auto above = overridden_.find(method); above != overridden_.end()) {
    for (const MethodId overridden : above->second) add(overridden);
  }
  const auto is_shared = [](const CallSite* site) { return !site->unshared; };
  if (std::ranges::any_of(found, is_shared)) std::erase_if(found, std::not_fn(is_shared));
  return found;
}

std::vector<std::set<LockId>> Requirements::held_at_entry() const {
  const std::size_t count = classes_.method_count();
  std::vector<std::set<LockId>> entry(count);
  std::vector<bool> known(count);  // no: nothing yet
  for (std::size_t i = 0; i < count; ++i) known[i] = sites_[i].empty();
  const auto held_at = [&](const CallSite& site) {
    std::set<LockId> held;
    if (site.forked) return held;
    if (site.caller != kMain) held = entry[static_cast<std::size_t>(site.caller)];
    for (const auto& [lock, hold] : flow_[site.holds]) {
      if (hold.depth > 0 && (is_global(lock) || core::is_of_any(locks_, lock))) held.insert(lock);
      if (hold.depth == 0 && hold.released) held.erase(lock);
    }
    return held;
  };
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < count; ++i) {
      if (known[i] && entry[i].empty()) continue;  // it cannot become less
      std::set<LockId> now;
      bool first = true;
      for (const CallSite* site : sites_[i]) {
        const bool of_main = site->caller == kMain;
        if (!of_main && !site->forked && !known[static_cast<std::size_t>(site->caller)]) continue;
        const std::set<LockId> here = held_at(*site);
        if (first) now = here;
        first = false;
        std::erase_if(now, [&](LockId lock) { return !here.contains(lock); });
      }
      if (first || (known[i] && now == entry[i])) continue;
      entry[i] = std::move(now);
      known[i] = true;
      more = true;
    }
  }
  return entry;
}

void Requirements::add_holders(MethodId method, const Holds& holds, LockId lock,
                               std::set<MethodId>& to) const {
  const auto is_held = [&](const Holds& at) {
    const auto known = at.find(lock);
    return known != at.end() && known->second.depth > 0;
  };
  if (is_held(holds)) {
    to.insert(method);
    return;
  }
  std::set<MethodId> seen = {method};
  std::vector<MethodId> open = {method};
  while (!open.empty()) {
    const MethodId next = open.back();
    open.pop_back();
    if (next == kMain) continue;
    for (const CallSite* site : sites_of(next)) {
      if (site->forked) continue;
      if (is_held(flow_[site->holds])) {
        to.insert(site->caller);
      } else if (seen.insert(site->caller).second) {
        open.push_back(site->caller);
      }
    }
  }
}

bool Requirements::is_reached_under(MethodId method, LockId lock) {
  if (method == kMain) return false;
  const auto [at, is_new] = reached_under_.try_emplace(lock);
  std::vector<bool>& reached = at->second;
  if (is_new) {
    reached.resize(sites_.size());
    for (bool more = true; more;) {
      more = false;
      for (std::size_t i = 0; i < sites_.size(); ++i) {
        if (reached[i]) continue;
        reached[i] = std::ranges::any_of(sites_[i], [&](const CallSite* site) {
          if (site->forked) return false;
          const auto held = flow_[site->holds].find(lock);
          if (held != flow_[site->holds].end() && held->second.depth > 0) return true;
          return site->caller != kMain && reached[static_cast<std::size_t>(site->caller)];
        });
        more |= reached[i];
      }
    }
  }
  return reached[static_cast<std::size_t>(method)];
}

// Of a class inside another one, or that another one has a part of.
void Requirements::find_back_pointers() {
  const auto has_part = [](const Class& owner, const std::string& part) {
    return std::ranges::any_of(owner.fields,
                               [&](const core::Field& field) { return field.type.name == part; });
  };
  for (const Class& of : classes_.program().classes) {
    for (const core::Field& field : of.fields) {
      const Class* owner = classes_.find(field.type.name);
      if (owner == nullptr || owner == &of) continue;
      if (of.name.starts_with(owner->name + "::") || has_part(*owner, of.name)) {
        back_pointers_.insert(field.name);
      }
    }
  }
}

bool Requirements::is_held_by_owner(const Holds& holds, LockId lock) const {
  const core::Lock& last = locks_[lock];
  const auto own = holds.find(lock);
  const bool is_certain = own != holds.end() && own->second.depth > 0;
  if (is_certain || last.kind != core::Lock::Kind::kField) return false;
  const core::Lock& back = locks_[last.base];
  if (back.kind != core::Lock::Kind::kField || !back_pointers_.contains(back.name)) return false;
  return std::ranges::any_of(holds, [&](const auto& held) {
    return held.second.depth > 0 && locks_[held.first].kind == core::Lock::Kind::kField &&
           locks_[held.first].name == last.name;
  });
}

bool Requirements::can_require(MethodId method, LockId lock) const {
  if (method == kMain || forked_.contains(method)) return false;
  if (flow_.excluded.contains({.method = method, .lock = lock})) return false;
  return can_name(method, lock);
}

// Over its object, its parameters and what is global.
bool Requirements::can_name(MethodId method, LockId lock) const {
  const MethodOf& of = classes_[method];
  const auto [first, length] = locks_.root(lock);
  if (length > kMostFields) return false;
  const core::Lock& root = locks_[first];
  switch (root.kind) {
    case core::Lock::Kind::kNone:
    case core::Lock::Kind::kAlways:
    case core::Lock::Kind::kThread:
    case core::Lock::Kind::kUnknown:
    case core::Lock::Kind::kField:
      return false;
    case core::Lock::Kind::kGhost:
      return true;
    case core::Lock::Kind::kVariable:
      break;
  }
  if (root.name == "this") {
    return of.owner != nullptr && of.method->kind == Method::Kind::kMethod;
  }
  if (classes_.global(root.name) != nullptr || core::is_of_any(locks_, lock)) return true;
  return std::ranges::find(of.method->parameters, root.name, &core::Parameter::name) !=
         of.method->parameters.end();
}

Requirements::Status Requirements::status(MethodId method, const Holds& holds, LockId lock) const {
  if (lock == Locks::kAlways || lock == Locks::kThread) return Status::kHeld;
  if (const auto at = holds.find(lock); at != holds.end()) {
    if (at->second.depth > 0) return Status::kHeld;
    if (at->second.released) return Status::kBroken;
  }
  if (is_held_by_owner(holds, lock)) return Status::kHeld;
  return can_require(method, lock) ? Status::kIfRequired : Status::kBroken;
}

Requirements::Known Requirements::known(MethodId method, const Holds& holds, LockId lock,
                                        std::optional<LockId> any) const {
  const Status own = status(method, holds, lock);
  if (own != Status::kBroken || !any || method == kMain || can_name(method, lock)) {
    return {.status = own, .lock = lock};
  }
  if (const auto at = holds.find(*any); at != holds.end()) {
    // What is held by name is held by that name.
    const bool held = at->second.depth > 0 && lock == Locks::kUnknown;
    return {.status = held ? Status::kHeld : Status::kBroken, .lock = lock};
  }
  return {.status = status(method, holds, *any), .lock = *any};
}

std::optional<LockId> Requirements::of_any(MethodId method, LockId lock) const {
  const MethodOf& of = classes_[method];
  const std::string& root = locks_[locks_.root(lock).first].name;
  if (root == "this" && of.owner != nullptr) {
    return classes_.of_any({.name = of.owner->name}, lock);
  }
  const auto parameter = std::ranges::find(of.method->parameters, root, &core::Parameter::name);
  if (parameter == of.method->parameters.end()) return std::nullopt;
  return classes_.of_any(parameter->type, lock);
}

std::int64_t Requirements::cost(MethodId method, LockId lock) const {
  const Method& of = *classes_[method].method;
  // Of the ghost parameter of a class all know: the type says so.
  const bool is_told = locks_[lock].kind == core::Lock::Kind::kGhost && is_of_object(method, lock);
  if (is_told || called_.contains(method)) {
    return of.is_private ? kPrivateCost : kPublicCost;
  }
  return of.is_private ? kUncalledPrivateCost : kUncalledCost;
}

bool Requirements::is_declared(MethodId method, LockId lock) const {
  const Method& of = *classes_[method].method;
  return of.is_given && std::ranges::find(of.requires_held, lock) != of.requires_held.end();
}

std::size_t Requirements::require(Key key) {
  // Of a lock without readers, all are writers; and who says that it needs the lock will know how.
  if (!with_readers_.contains(locks_[key.lock].name) || is_declared(key.method, key.lock)) {
    key.as_writer = false;
  }
  const auto [at, is_new] = ids_.try_emplace(key, list_.size());
  const std::size_t index = at->second;
  if (is_new) {
    keys_.push_back(key);
    list_.push_back({.cost = key.as_writer ? 0 : cost(key.method, key.lock)});
    uses_.emplace_back();
    held_somewhere_.push_back(false);
    if (key.as_writer) {
      const std::size_t plain = require({.method = key.method, .lock = key.lock});
      list_[index].entail.push_back(plain);
    }
  }
  return index;
}

std::size_t Requirements::premise(std::int64_t cost) {
  keys_.emplace_back();
  list_.push_back({.cost = cost});
  uses_.emplace_back();
  held_somewhere_.push_back(false);
  return list_.size() - 1;
}

void Requirements::expand() {
  while (expanded_ < list_.size()) expand(expanded_++);
}

void Requirements::expand(std::size_t index) {
  const auto [method, lock, as_writer] = keys_[index];
  const bool of_object = is_of_object(method, lock);
  std::vector<Discipline::Need> needs;
  std::vector<Use> uses;
  std::size_t broken = 0;
  std::size_t held = 0;
  std::size_t misheld = 0;
  bool is_supported = list_[index].is_fixed;
  const std::optional<LockId> any = method == kMain ? std::nullopt : of_any(method, lock);
  for (const CallSite* site : calls_[method]) {
    if (site->unshared && of_object) {
      is_supported = true;
      continue;
    }
    const LockId here = substitute(locks_, site->theta, lock);
    const Known at = known(site->caller, flow_[site->holds], here, any);
    Use use = {.site = site, .status = at.status};
    if (site->forked) use.status = Status::kBroken;
    if (as_writer && flow_.is_held_as_reader(site->holds, at.lock)) ++misheld;
    if (use.status == Status::kHeld) {
      held_somewhere_[index] = true;
      ++held;
    }
    if (use.status == Status::kBroken) ++broken;
    if (use.status == Status::kIfRequired) {
      use.required = require({.method = site->caller, .lock = at.lock, .as_writer = as_writer});
      // One that calls itself needs nothing but itself.
      if (use.required != index) {
        needs.push_back({.required = use.required, .penalty = kBrokenCall});
      }
    }
    uses.push_back(use);
  }
  for (const CallSite* site : unknowing_calls(method, lock)) {
    uses.push_back({.site = site, .status = Status::kBroken});
    ++broken;
  }
  // What most callers do not heed is no requirement; what nearly all do is one.
  const std::int64_t lack = kBrokenCall * (static_cast<std::int64_t>(broken) -
                                           static_cast<std::int64_t>(held) / kHeldForOneBroken);
  list_[index].cost += std::max<std::int64_t>(0, lack);
  // Each caller that holds the lock speaks for it, if none speaks against it.
  if (broken + misheld == 0) {
    list_[index].cost =
        std::max<std::int64_t>(0, list_[index].cost - static_cast<std::int64_t>(held));
  }
  list_[index].is_possible = list_[index].is_fixed || 2 * (broken + misheld) <= uses.size();
  if (!is_supported && !held_somewhere_[index]) {
    for (const Discipline::Need& need : needs) list_[index].support.push_back(need.required);
  }
  list_[index].needs = std::move(needs);
  uses_[index] = std::move(uses);
  above(index);
}

// The object's own, or what its class has for the lock of others.
bool Requirements::is_of_object(MethodId method, LockId lock) const {
  const core::Lock& root = locks_[locks_.root(lock).first];
  if (root.kind != core::Lock::Kind::kGhost) return root.name == "this";
  const Class* owner = method == kMain ? nullptr : classes_[method].owner;
  return owner != nullptr && std::ranges::find(owner->ghosts, root.name) != owner->ghosts.end();
}

// Those of an overridden method that has no words for the lock.
std::vector<const CallSite*> Requirements::unknowing_calls(MethodId method, LockId lock) {
  std::vector<const CallSite*> found;
  const auto at = overridden_.find(method);
  if (at == overridden_.end()) return found;
  for (const MethodId overridden : at->second) {
    const LockId there = seen_from(method, overridden, lock);
    if (there == Locks::kAlways) continue;
    if (there != Locks::kUnknown && can_require(overridden, there)) continue;
    const auto calls = calls_.find(overridden);
    if (calls == calls_.end()) continue;
    std::ranges::copy_if(calls->second, std::back_inserter(found),
                         [](const CallSite* site) { return !site->unshared; });
  }
  return found;
}

// What the overridden method must require so that its callers know.
void Requirements::above(std::size_t index) {
  const auto [method, lock, as_writer] = keys_[index];
  const auto at = overridden_.find(method);
  if (at == overridden_.end() || list_[index].is_fixed) return;
  for (const MethodId overridden : at->second) {
    const LockId there = seen_from(method, overridden, lock);
    if (there == Locks::kAlways) continue;
    if (there == Locks::kUnknown || !can_require(overridden, there)) continue;
    const std::size_t required =
        require({.method = overridden, .lock = there, .as_writer = as_writer});
    list_[index].entail.push_back(required);
    if (as_writer) continue;
    list_[index].cost =
        std::max<std::int64_t>(0, list_[index].cost - cost(method, lock));  // paid above
  }
}

// A lock of an override in the words of what it overrides; unknown: there are none.
LockId Requirements::seen_from(MethodId overriding, MethodId overridden, LockId lock) {
  const MethodOf& own = classes_[overriding];
  const MethodOf& base = classes_[overridden];
  const LockId self = locks_.variable("this");
  const auto [root, length] = locks_.root(lock);
  const core::Lock of = locks_[root];
  if (of.kind == core::Lock::Kind::kGhost) {
    // The ghost parameters of the base, by what the derived class gives for them.
    std::vector<Type> above = classes_.bases(classes_.self_type(*own.owner), self);
    for (std::size_t i = 0; i < above.size(); ++i) {
      const Type type = above[i];
      for (Type& next : classes_.bases(type, self)) above.push_back(std::move(next));
      if (type.name != base.owner->name) continue;
      for (std::size_t j = 0; j < type.locks.size() && j < base.owner->ghosts.size(); ++j) {
        if (type.locks[j] == lock) return locks_.ghost(base.owner->ghosts[j]);
      }
    }
    for (std::size_t i = 0; i < own.method->ghosts.size(); ++i) {
      if (own.method->ghosts[i] == of.name && i < base.method->ghosts.size()) {
        return locks_.ghost(base.method->ghosts[i]);
      }
    }
    return Locks::kUnknown;
  }
  if (of.name == "this") {
    // The first field must be one of the base.
    if (length == 0) return lock;
    LockId first = lock;
    while (locks_[first].base != root) first = locks_[first].base;
    const std::string name = locks_[first].name;
    const bool known = classes_.field(classes_.self_type(*base.owner), self, name).has_value();
    return known ? lock : Locks::kUnknown;
  }
  if (classes_.global(of.name) != nullptr || core::is_of_any(locks_, lock)) return lock;
  const auto& parameters = own.method->parameters;
  const auto parameter = std::ranges::find(parameters, of.name, &core::Parameter::name);
  const auto place = static_cast<std::size_t>(parameter - parameters.begin());
  if (place >= base.method->parameters.size()) return Locks::kUnknown;
  const Substitution theta = {
      .pairs = {{of.name, locks_.variable(base.method->parameters[place].name)}}};
  return substitute(locks_, theta, lock);
}

std::vector<bool> Requirements::has_evidence() const {
  std::vector<bool> evidence = held_somewhere_;
  for (std::size_t i = 0; i < list_.size(); ++i) evidence[i] = evidence[i] || list_[i].is_fixed;
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < list_.size(); ++i) {
      if (evidence[i]) continue;
      const bool found =
          std::ranges::any_of(list_[i].needs,
                              [&](const auto& need) { return evidence[need.required]; }) ||
          std::ranges::any_of(list_[i].entail, [&](std::size_t other) { return evidence[other]; });
      if (found) evidence[i] = more = true;
    }
  }
  return evidence;
}

// What most callers can do nothing for is no requirement, and so on with their callers.
void Requirements::drop_unheeded() {
  std::vector<std::vector<std::size_t>> callees(list_.size());
  std::vector<std::size_t> unheeded(list_.size());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < list_.size(); ++i) {
    for (const Use& use : uses_[i]) {
      if (use.status == Status::kBroken) ++unheeded[i];
      if (use.status == Status::kIfRequired && use.required != i)
        callees[use.required].push_back(i);
    }
    if (hopeless_[i]) open.push_back(i);
  }
  while (!open.empty()) {
    const std::size_t next = open.back();
    open.pop_back();
    for (const std::size_t callee : callees[next]) {
      if (hopeless_[callee] || list_[callee].is_fixed) continue;
      if (2 * ++unheeded[callee] <= uses_[callee].size()) continue;
      hopeless_[callee] = true;
      open.push_back(callee);
    }
  }
}

std::int64_t Requirements::fold(std::vector<Discipline::Need>& needs) const {
  std::int64_t price = 0;
  std::erase_if(needs, [&](const Discipline::Need& need) {
    if (hopeless_[need.required]) price += need.penalty;
    return hopeless_[need.required];
  });
  return price;
}

void Requirements::drop_hopeless(const std::vector<bool>& evidence) {
  hopeless_.assign(list_.size(), false);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < list_.size(); ++i) {
    // What nobody calls here may be called by others; it has its price.
    const bool called = !list_[i].needs.empty() || !uses_[i].empty();
    const bool is_for_readers = keys_[i].as_writer && !list_[i].is_possible;
    hopeless_[i] = is_for_readers || (called && !evidence[i] && !list_[i].is_fixed);
    if (!hopeless_[i]) open.push_back(i);
  }
  while (!open.empty()) {
    const std::size_t next = open.back();
    open.pop_back();
    for (const std::size_t above : list_[next].entail) {
      if (!hopeless_[above]) continue;
      hopeless_[above] = false;
      open.push_back(above);
    }
  }
  drop_unheeded();
  for (std::size_t i = 0; i < list_.size(); ++i) {
    Discipline::Requirement& of = list_[i];
    if (hopeless_[i]) {
      of = {.is_possible = false};
      continue;
    }
    of.cost += fold(of.needs);
    std::erase_if(of.support, [&](std::size_t other) { return hopeless_[other]; });
    // An override whose base cannot say so: each call of the base is one that does not know.
    const auto silent =
        std::erase_if(of.entail, [&](std::size_t other) { return hopeless_[other]; });
    of.cost += kBrokenCall * static_cast<std::int64_t>(silent);
  }
}

}  // namespace tomos::infer
