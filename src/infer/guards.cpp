#include "infer/guards.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "core/any_object.h"
#include "infer/candidates.h"
#include "infer/classes.h"
#include "infer/conditional.h"
#include "infer/conventions.h"
#include "infer/discipline.h"
#include "infer/flow.h"
#include "infer/flow_calls.h"
#include "infer/guard_findings.h"
#include "infer/requirements.h"
#include "infer/where_said.h"

namespace tomos::infer {

using core::Class;
using core::Field;
using core::Guard;
using core::Method;

namespace {

// What disciplines cost. A field without a guard costs what its accesses weigh; a guard costs what
// kind of lock it is, and for each access without it much more than the access weighs: of fifteen
// accesses fourteen must hold the lock.
constexpr std::int64_t kReadWeight = 2;
constexpr std::int64_t kWriteWeight = 3;
constexpr std::int64_t kUpdateWeight = 4;
constexpr std::int64_t kBroken = 12;  // times the weight
// Held, and so the right one, but as a reader for a write: more often than not it is meant so, or
// not at all.
constexpr std::int64_t kMisheld = 2;

constexpr std::int64_t kGhostFactor = 3;
// A ghost parameter that is looked for is taken if there is any way; what breaks it gives it up.
constexpr std::int64_t kSought = 20;
// Only for writes. Dear enough that a few reads without the lock stand out as findings instead.
constexpr std::int64_t kWritesOnlyCost = 2 * kBroken * kReadWeight;
// What the author has declared holds, if there is any way to let it hold.
constexpr std::int64_t kDeclared = 1000;
// What only an initialising method does needs no lock; yet it says so, if that costs little.
constexpr std::int64_t kInitialising = 3;
// To release or wait with a lock that one does not hold.
constexpr std::int64_t kPresumed = 10;

constexpr int kConflicts = 100'000;

std::int64_t weight(const Access& access) {
  switch (access.kind) {
    case Access::Kind::kRead:
      return kReadWeight;
    case Access::Kind::kWrite:
      return kWriteWeight;
    case Access::Kind::kUpdate:
      return kUpdateWeight;
  }
  return 0;
}

class Finder {
 public:
  Finder(core::Program& program, Classes& classes, const Flow& flow,
         const std::set<const Field*>* for_ghosts)
      : program_(program),
        locks_(program.locks),
        classes_(classes),
        flow_(flow),
        requirements_(locks_, classes_, flow_),
        candidates_(locks_, classes_, flow_, requirements_, for_ghosts),
        locking_(locking_classes(flow_, classes_)),
        ghosts_are_declared_(for_ghosts == nullptr),
        told_(program, classes, flow, requirements_) {}

  GuardInference run() {
    for (const Access& access : flow_.accesses) {
      if (!flow_.spare.contains(access.method)) accesses_[access.field].push_back(&access);
    }
    for (const Field& global : program_.globals) ++holders_[global.type.name];
    for (const Class& of : program_.classes) {
      for (const Field& field : of.fields) ++holders_[field.type.name];
    }
    for (Class& of : program_.classes) {
      for (Field& field : of.fields) add(field, &of);
    }
    for (Field& global : program_.globals) add(global, nullptr);
    for (const MethodLock& one : flow_.presumed) {
      const Discipline::Need need = {
          .required = requirements_.require({.method = one.method, .lock = one.lock}),
          .penalty = kPresumed};
      subjects_.push_back({.options = {{}}, .priced = {{.cost = 0, .needs = {need}}}});
    }
    requirements_.expand();
    drop_without_evidence();
    choose();
    for (Class& of : program_.classes) {
      for (Field& field : of.fields) field.is_role = flow_.role_fields.contains(&field);
    }
    for (Field& global : program_.globals) global.is_role = flow_.role_fields.contains(&global);
    // Who asserts it has seen to it; callers need not say so.
    for (const auto& [id, lock] : flow_.roles) {
      Method& method = mutable_method(program_, id);
      if (!method.is_given) std::erase(method.requires_held, lock);
    }
    return {.findings = std::move(told_.findings),
            .complete = complete_,
            .entered_again = told_.told_entered_again()};
  }

 private:
  // What may be said of a field, and what every saying is worth.
  struct Subject {
    Field* field = nullptr;
    const Class* owner = nullptr;
    std::vector<Guard> options;
    std::vector<Discipline::Option> priced;
    std::vector<bool> certain;  // needs no evidence beyond what was seen
  };

  // --- What that costs ---

  void add(Field& field, const Class* owner) {
    const std::vector<const Access*>& all = accesses_[&field];
    std::vector<const Access*> shared;
    std::ranges::copy_if(all, std::back_inserter(shared),
                         [](const Access* access) { return !access->unshared; });
    Subject subject = {.field = &field, .owner = owner};
    using enum Guard::Kind;
    if (field.guard.kind == kGuardedBy || field.guard.kind == kWriteGuardedBy) {
      subject.options.push_back(field.guard);
      subject.priced.push_back(priced(estimate(field.guard, owner, all, Penalty::kHigh), 0));
      subject.certain.push_back(true);
      subjects_.push_back(std::move(subject));
      return;
    }
    if (field.guard.kind != kUnset) return;
    const bool changes = flow_.changing.contains(&field);
    // Whoever gives a class a ghost parameter means it to guard something.
    const bool for_ghost =
        ghosts_are_declared_ && owner != nullptr && !owner->ghosts.empty() && !field.is_constant;
    if (!changes && !(for_ghost && !shared.empty()) && !may_be_guarded(field, owner, all)) {
      field.guard.kind = kFinal;
      return;
    }
    std::int64_t weights = 0;
    for (const Access* access : shared) weights += weight(*access);
    subject.options.push_back({.kind = changes ? kUnset : kFinal});
    // Nor does anybody say that something is guarded who does not mean it (guarded_var).
    if (field.is_given) weights *= kGhostFactor;
    if (owner != nullptr && candidates_.is_for_ghost(field, *owner)) weights *= kSought;
    subject.priced.push_back({.cost = changes     ? weights
                                      : for_ghost ? kGhostFactor * weights
                                                  : uses(shared)});
    subject.certain.push_back(true);
    const auto writes = std::ranges::count_if(
        shared, [](const Access* access) { return access->kind != Access::Kind::kRead; });
    for (const LockId lock : candidates_.of(field, owner, all)) {
      const std::int64_t cost = candidates_.cost(field, owner, lock, shared);
      consider(subject, {.kind = kGuardedBy, .lock = lock}, all, cost);
      if (changes && writes > 1) {
        consider(subject, {.kind = kWriteGuardedBy, .lock = lock}, all, cost + kWritesOnlyCost);
      }
    }
    if (subject.options.size() == 1) {
      field.guard = subject.options[0];
    } else {
      subjects_.push_back(std::move(subject));
    }
  }

  // What it is worth to know that they all hold a lock, for a field that does not change itself.
  static std::int64_t uses(const std::vector<const Access*>& shared) {
    std::int64_t worth = 0;
    for (const Access* access : shared) worth += access->changes ? kWriteWeight : 1;
    return worth;
  }

  // A pointer that is theirs: they made what it leads to, or nobody else has such a thing. Who was
  // given the lock may have been given what it guards.
  bool is_own(const Field& field, const Class* owner, const std::vector<const Access*>& all) const {
    if (!field.is_borrowed || holders_.at(field.type.name) < 2) return true;
    if (std::ranges::any_of(all, &Access::makes)) return true;
    return owner != nullptr && std::ranges::any_of(owner->fields, [&](const Field& of) {
             return of.is_borrowed && flow_.lock_fields.contains(&of);
           });
  }

  // A pointer or an object that stays, but through which something is changed: some guard that too.
  bool may_be_guarded(const Field& field, const Class* owner,
                      const std::vector<const Access*>& all) const {
    if (Classes::is_value(field.type) || flow_.leading_fields.contains(&field) ||
        flow_.lock_fields.contains(&field) || classes_.find(field.type.name) == nullptr) {
      return false;
    }
    if (locking_.contains(classes_.find(field.type.name))) return false;
    return is_own(field, owner, all) && std::ranges::any_of(all, [](const Access* access) {
             return access->changes && !access->unshared;
           });
  }

  // What a guard costs if methods require whatever they can, and what they would have to.
  struct Estimate {
    std::int64_t cost = 0;
    std::map<Requirements::Key, std::int64_t> needs;  // and the penalties
    bool seen_held = false;
  };
  enum class Penalty : std::uint8_t { kUsual, kHigh };

  Estimate estimate(const Guard& guard, const Class* owner,
                    const std::vector<const Access*>& accesses, Penalty penalties) {
    Estimate made;
    const std::optional<LockId> any = classes_.of_any(owner, guard);
    for (const Access* access : accesses) {
      const LockId here = substitute(locks_, access->theta, guard.lock);
      const auto [status, lock] =
          requirements_.known(access->method, flow_[access->holds], here, any);
      const bool if_required = status == Requirements::Status::kIfRequired;
      if (access->unshared) {
        if (if_required && is_initialising(*access)) {
          made.needs[{.method = access->method, .lock = lock}] += kInitialising;
        }
        continue;
      }
      if (status == Requirements::Status::kHeld) {
        made.seen_held = true;
        continue;
      }
      const bool any_lock =
          guard.kind == Guard::Kind::kWriteGuardedBy && access->kind == Access::Kind::kRead;
      const bool is_light = is_in_construction(*access) || program_[access->expr].is_lent;
      const std::int64_t times = is_light                                       ? 1
                                 : flow_.is_held_as_reader(access->holds, here) ? kMisheld
                                                                                : kBroken;
      std::int64_t penalty = times * weight(*access);
      if (penalties == Penalty::kHigh) penalty = kDeclared;
      if (any_lock) penalty = weight(*access);
      const Requirements::Key need = {
          .method = access->method, .lock = lock, .as_writer = access->kind != Access::Kind::kRead};
      (if_required ? made.needs[need] : made.cost) += penalty;
    }
    return made;
  }

  // Constructors set up more than their own object, and Clang's checker looks into none of them.
  bool is_in_construction(const Access& access) const {
    if (access.method == kMain) return false;
    const Method::Kind kind = classes_[access.method].method->kind;
    return kind == Method::Kind::kConstructor || kind == Method::Kind::kDestructor;
  }

  bool is_initialising(const Access& access) const {
    return access.method != kMain &&
           classes_[access.method].method->kind == Method::Kind::kMethod &&
           access.theta.find("this") == locks_.variable("this");
  }

  Discipline::Option priced(const Estimate& estimate, std::int64_t cost) {
    Discipline::Option option = {.cost = cost + estimate.cost};
    for (const auto& [need, penalty] : estimate.needs) {
      option.needs.push_back({.required = requirements_.require(need), .penalty = penalty});
    }
    return option;
  }

  void consider(Subject& subject, const Guard& guard, const std::vector<const Access*>& all,
                std::int64_t cost) {
    // Of a field that does not change, no access may break it: then it simply needs none.
    const bool changes = flow_.changing.contains(subject.field);
    const Estimate made =
        estimate(guard, subject.owner, all, changes ? Penalty::kUsual : Penalty::kHigh);
    if (cost + made.cost >= subject.priced[0].cost) return;
    subject.options.push_back(guard);
    subject.priced.push_back(priced(made, cost));
    subject.certain.push_back(made.seen_held);
    if (subject.owner == nullptr || subject.field->is_static) return;
    const auto once = candidates_.class_cost(*subject.owner, guard.lock);
    if (!once) return;
    const auto [at, is_new] = classes_under_.try_emplace({subject.owner, guard.lock});
    if (is_new) at->second = requirements_.premise(*once);
    subject.priced.back().needs.push_back({.required = at->second, .penalty = kDeclared});
  }

  // A lock that nobody was ever seen to hold at an access, nor any caller, guards nothing.
  void drop_without_evidence() {
    const std::vector<bool> evidence = requirements_.has_evidence();
    requirements_.drop_hopeless(evidence);
    for (Subject& subject : subjects_) {
      for (std::size_t i = subject.certain.size(); i-- > 1;) {
        const bool supported =
            subject.certain[i] ||
            std::ranges::any_of(subject.priced[i].needs, [&](const Discipline::Need& need) {
              return evidence[need.required];
            });
        if (supported) continue;
        const auto at = static_cast<std::ptrdiff_t>(i);
        subject.options.erase(subject.options.begin() + at);
        subject.priced.erase(subject.priced.begin() + at);
      }
      for (Discipline::Option& option : subject.priced) {
        option.cost += requirements_.fold(option.needs);
      }
    }
  }

  // --- What was chosen ---

  void choose() {
    Discipline discipline = {.fields = {}, .requirements = requirements_.list()};
    for (const Subject& subject : subjects_) discipline.fields.push_back(subject.priced);
    const Choice choice = solve(discipline, kConflicts);
    complete_ = choice.optimal;
    for (std::size_t i = 0; i < discipline.requirements.size(); ++i) {
      if (choice.required[i] && !discipline.requirements[i].is_fixed) require(i);
    }
    for (std::size_t i = 0; i < subjects_.size(); ++i) {
      const auto& [field, owner, options, priced, certain] = subjects_[i];
      if (field == nullptr) continue;
      const Guard& guard = options[choice.options[i]];
      const GuardFindings::Guarded of = {*field, owner, accesses_[field]};
      told_.excuse_loose(of, guard);
      const bool declared = field->guard.kind != Guard::Kind::kUnset;
      field->guard = guard;
      if (!flow_.changing.contains(field)) field->is_constant = true;
      if (!declared || field->is_given) told_.tell_accesses(of);
    }
    for (std::size_t i = 0; i < discipline.requirements.size(); ++i) {
      const auto [method, lock, as_writer] = requirements_.key(i);
      if (!choice.required[i] || method == kMain || as_writer) continue;
      const bool declared =
          discipline.requirements[i].is_fixed && !classes_[method].method->is_given;
      if (!declared) told_.tell_calls(i, choice);
    }
    told_.tell_wrong_calls();
    told_.excuse_unshared();
    for (const MethodLock& one : conventions(locks_, classes_, flow_, requirements_)) {
      mutable_method(program_, one.method).requires_held.push_back(one.lock);
    }
    say_where(program_, classes_, flow_);
    leave_unsaid(discipline, choice);
    for (const MethodLock& one : flow_.excluded) add_excluded(one);
    for (const auto& [method, locks] : flow_.acquires) add_effects(method, locks, true);
    for (const auto& [method, locks] : flow_.releases) add_effects(method, locks, false);
  }

  void require(std::size_t index) {
    const auto [method, lock, as_writer] = requirements_.key(index);
    if (method == kMain || as_writer) return;
    mutable_method(program_, method).requires_held.push_back(lock);
  }

  // What only guards ask for that are said where an object is held is not said either.
  void leave_unsaid(const Discipline& discipline, const Choice& choice) {
    std::vector<std::size_t> said;
    for (std::size_t i = 0; i < subjects_.size(); ++i) {
      const Field* field = subjects_[i].field;
      if (field == nullptr || field->guard.said != Guard::Said::kByHolder) said.push_back(i);
    }
    const std::vector<bool> asked = asked_for(discipline, choice, said);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const auto [method, lock, as_writer] = requirements_.key(i);
      if (!choice.required[i] || asked[i] || as_writer || method == kMain) continue;
      mutable_method(program_, method).unsaid.push_back(lock);
    }
    // Nor is that a guard which somebody is given holds its lock, whichever that is.
    for (std::size_t i = 0; i < classes_.method_count(); ++i) {
      const auto id = static_cast<MethodId>(i);
      for (const core::Parameter& parameter : classes_[id].method->parameters) {
        if (!parameter.is_guard) continue;
        mutable_method(program_, id).unsaid.push_back(locks_.variable(parameter.name));
      }
    }
  }

  // For people: of the locks of others, and of all, those that only a call acquires go without
  // saying.
  void add_excluded(const MethodLock& one) {
    const auto [root, length] = locks_.root(one.lock);
    const bool own = locks_[root].name == "this" && length <= 1;
    if (one.method == kMain || (!own && !flow_.acquiring.contains(one))) return;
    if (core::is_of_any(locks_, one.lock)) return;  // only of that object
    if (told_.entered_again.contains({classes_[one.method].owner, one.lock})) return;
    std::vector<LockId>& excludes = mutable_method(program_, one.method).excludes;
    const bool known = std::ranges::find(excludes, one.lock) != excludes.end();
    if (!known) excludes.push_back(one.lock);
  }

  void add_effects(MethodId method, const std::vector<LockId>& locks, bool taken) {
    Method& of = mutable_method(program_, method);
    auto& to = taken ? of.acquires : of.releases;
    to.insert(to.end(), locks.begin(), locks.end());
  }

  core::Program& program_;
  Locks& locks_;
  Classes& classes_;
  const Flow& flow_;
  Requirements requirements_;
  Candidates candidates_;
  std::set<const Class*> locking_;  // that look after themselves
  bool ghosts_are_declared_;
  std::map<const Field*, std::vector<const Access*>> accesses_;
  std::map<std::string, std::size_t> holders_;  // how many fields lead to objects of a class
  std::vector<Subject> subjects_;
  std::map<std::pair<const Class*, LockId>, std::size_t> classes_under_;
  GuardFindings told_;
  bool complete_ = true;
};

}  // namespace

Result<GuardInference> infer_guards(core::Program& program,
                                    const std::set<const Field*>* for_ghosts) {
  Classes classes(program, program.locks);
  if (auto fits = classes.check(); !fits) return std::unexpected(fits.error());
  const Flow flow = flow_of(program, program.locks, classes);
  return Finder(program, classes, flow, for_ghosts).run();
}

}  // namespace tomos::infer
