#include "infer/conventions.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace tomos::infer {

using core::Method;

namespace {

class Conventions {
 public:
  Conventions(Locks& locks, Classes& classes, const Flow& flow, const Requirements& requirements)
      : locks_(locks),
        classes_(classes),
        flow_(flow),
        requirements_(requirements),
        globals_(locks, classes, flow) {
    for (const CallSite& site : flow.calls) calls_[site.callee].push_back(&site);
  }

  std::vector<MethodLock> run() {
    for (const auto& [method, sites] : calls_) propose(method, sites);
    // What a caller cannot promise goes, or what nobody has; and so on with those who count on that
    // caller.
    while (drop_broken() || drop_unseen()) {
    }
    std::vector<MethodLock> made;
    std::ranges::copy_if(kept_, std::back_inserter(made),
                         [&](const MethodLock& one) { return !is_required(one.method, one.lock); });
    return made;
  }

 private:
  void propose(MethodId method, const std::vector<const CallSite*>& sites) {
    const MethodOf& of = classes_[method];
    const bool is_plain = of.method->kind == Method::Kind::kMethod || of.owner == nullptr;
    const bool is_lambda = of.method->name.find("::lambda@") != std::string::npos;
    if (!is_plain || is_lambda || of.method->no_warn || of.method->body == core::kNoExpr) {
      return;
    }
    const auto released = flow_.releases.find(method);
    const auto add = [&](LockId lock) {
      // That says it already.
      const bool releases = released != flow_.releases.end() &&
                            std::ranges::find(released->second, lock) != released->second.end();
      const bool is_likely = of.method->is_private || is_of_own(method, lock);
      if (is_likely && !releases && requirements_.can_require(method, lock)) {
        kept_.insert({method, lock});
      }
    };
    const auto add_fields = [&](const Type& type, LockId of_object) {
      for (const FieldUse& use : classes_.all_fields(type, of_object)) {
        if (flow_.lock_fields.contains(use.field)) add(locks_.field(of_object, use.field->name));
      }
    };
    if (of.owner != nullptr) add_fields(classes_.self_type(*of.owner), locks_.variable("this"));
    for (const core::Parameter& parameter : of.method->parameters) {
      add_fields(parameter.type, locks_.variable(parameter.name));
    }
    for (const CallSite* site : sites) {
      for (const auto& [lock, hold] : flow_[site->holds]) {
        const bool is_global = hold.depth > 0 && globals_.contain(lock);
        if (is_global && globals_.are_beside(of.method->position, lock)) add(lock);
      }
    }
  }

  // The lock of its object, for something that is used there.
  bool is_of_own(MethodId method, LockId lock) const {
    const auto [root, length] = locks_.root(lock);
    return locks_[root].name == "this" && length == 1 &&
           requirements_.was_considered({.method = method, .lock = lock});
  }

  bool is_required(MethodId method, LockId lock) const {
    if (method == kMain) return false;
    const std::vector<LockId>& held = classes_[method].method->requires_held;
    return std::ranges::find(held, lock) != held.end();
  }

  static const Hold* find(const Holds& holds, LockId lock) {
    const auto at = holds.find(lock);
    return at == holds.end() ? nullptr : &at->second;
  }

  bool is_kept_by_all(const MethodLock& one) {
    return std::ranges::all_of(calls_[one.method], [&](const CallSite* site) {
      if (site->forked) return false;
      if (site->unshared) return true;
      const LockId here = substitute(locks_, site->theta, one.lock);
      if (flow_.is_loose(locks_, here)) return false;
      const Hold* hold = find(flow_[site->holds], here);
      if (hold != nullptr && (hold->depth > 0 || hold->released)) return hold->depth > 0;
      return kept_.contains({site->caller, here}) || is_required(site->caller, here);
    });
  }

  bool drop_broken() {
    return std::erase_if(kept_, [&](const MethodLock& one) { return !is_kept_by_all(one); }) > 0;
  }

  bool drop_unseen() {
    std::set<MethodLock> seen;
    for (bool more = true; more;) {
      more = false;
      for (const MethodLock& one : kept_) {
        if (!seen.contains(one) && is_seen(one, seen)) more = seen.insert(one).second;
      }
    }
    const bool dropped = seen.size() < kept_.size();
    kept_ = std::move(seen);
    return dropped;
  }

  // Somebody really has it.
  bool is_seen(const MethodLock& one, const std::set<MethodLock>& seen) {
    return std::ranges::any_of(calls_[one.method], [&](const CallSite* site) {
      if (site->unshared) return false;
      const LockId here = substitute(locks_, site->theta, one.lock);
      const Hold* hold = find(flow_[site->holds], here);
      return (hold != nullptr && hold->depth > 0) || seen.contains({site->caller, here}) ||
             is_required(site->caller, here);
    });
  }

  Locks& locks_;
  Classes& classes_;
  const Flow& flow_;
  const Requirements& requirements_;
  GlobalLocks globals_;
  std::map<MethodId, std::vector<const CallSite*>> calls_;
  std::set<MethodLock> kept_;
};

}  // namespace

std::vector<MethodLock> conventions(Locks& locks, Classes& classes, const Flow& flow,
                                    const Requirements& requirements) {
  return Conventions(locks, classes, flow, requirements).run();
}

}  // namespace tomos::infer
