#include "infer/wrong_calls.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/any_object.h"

namespace tomos::infer {

using core::Guard;

namespace {

// So many methods do not all wait for themselves.
constexpr std::size_t kManyCallers = 3;

}  // namespace

std::vector<WrongCall> calls_of_readers(Locks& locks, const Classes& classes, const Flow& flow) {
  const auto own = [&](HoldsId at, LockId lock) {
    const auto found = flow[at].find(lock);
    return found == flow[at].end() ? Hold() : found->second;
  };
  const auto requires_it = [&](MethodId method, LockId lock) {
    if (method == kMain) return false;
    const std::vector<LockId>& all = classes[method].method->requires_held;
    return std::ranges::find(all, lock) != all.end();
  };

  std::set<MethodLock> writers;  // methods, and the locks of their callers that they write under
  std::vector<MethodLock> open;
  const auto add = [&](MethodId method, LockId lock, HoldsId at) {
    const Hold hold = own(at, lock);
    if (hold.depth > 0 || hold.released || !requires_it(method, lock)) return;
    if (writers.insert({method, lock}).second) open.push_back({method, lock});
  };
  for (const Access& access : flow.accesses) {
    const Guard& guard = access.field->guard;
    const bool guarded =
        guard.kind == Guard::Kind::kGuardedBy || guard.kind == Guard::Kind::kWriteGuardedBy;
    if (!guarded || access.unshared || access.kind == Access::Kind::kRead) continue;
    add(access.method, substitute(locks, access.theta, guard.lock), access.holds);
  }

  std::map<MethodId, std::vector<const CallSite*>> sites;
  for (const CallSite& site : flow.calls) {
    if (!site.unshared && !site.forked) sites[site.callee].push_back(&site);
  }
  std::vector<WrongCall> found;
  while (!open.empty()) {
    const MethodLock writer = open.back();
    open.pop_back();
    for (const CallSite* site : sites[writer.method]) {
      const LockId here = substitute(locks, site->theta, writer.lock);
      if (own(site->holds, here).shared) found.push_back({.site = site, .lock = writer.lock});
      add(site->caller, here, site->holds);
    }
  }
  std::ranges::sort(found, {}, &WrongCall::site);
  return found;
}

std::vector<WrongCall> calls_that_lock_again(Locks& locks, const Flow& flow) {
  std::map<MethodId, std::vector<LockId>> acquired;
  for (const MethodLock& one : flow.acquiring) {
    // Of any object: perhaps of another one.
    if (!core::is_of_any(locks, one.lock)) acquired[one.method].push_back(one.lock);
  }
  std::vector<WrongCall> found;
  for (const CallSite& site : flow.calls) {
    const auto locked = acquired.find(site.callee);
    if (locked == acquired.end() || site.forked) continue;
    for (const LockId lock : locked->second) {
      const LockId here = substitute(locks, site.theta, lock);
      if (std::ranges::find(site.brings, here) != site.brings.end()) continue;
      const auto held = flow[site.holds].find(here);
      // Readers may come twice.
      if (held == flow[site.holds].end() || held->second.depth == 0 || held->second.shared)
        continue;
      found.push_back({.site = &site, .lock = lock});
    }
  }
  return found;
}

std::map<OwnLock, std::size_t> take_entered_again(std::vector<WrongCall>& calls, const Locks& locks,
                                                  const Classes& classes) {
  // What standard locks do is known.
  const auto is_own_lock = [&](const OwnLock& of) {
    return of.first != nullptr && std::ranges::any_of(of.first->fields, [&](const auto& field) {
             return field.is_own_lock && field.name == locks[of.second].name;
           });
  };
  const auto own_lock = [&](const WrongCall& call) {
    return OwnLock(classes[call.site->callee].owner, call.lock);
  };
  std::map<OwnLock, std::set<MethodId>> callers;
  for (const WrongCall& call : calls) callers[own_lock(call)].insert(call.site->caller);
  std::map<OwnLock, std::size_t> taken;
  std::erase_if(calls, [&](const WrongCall& call) {
    const OwnLock of = own_lock(call);
    if (callers.at(of).size() < kManyCallers || !is_own_lock(of)) return false;
    ++taken[of];
    return true;
  });
  return taken;
}

}  // namespace tomos::infer
