#include "infer/ghosts.h"

#include <algorithm>
#include <cstddef>
#include <expected>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "infer/classes.h"
#include "infer/flow.h"
#include "infer/ghost_fields.h"
#include "infer/infer.h"
#include "infer/lock_parameters.h"
#include "infer/requirements.h"

namespace tomos::infer {

using core::Class;
using core::Field;
using core::Guard;
using core::Method;
using core::Program;

namespace {

// Each of them is the whole analysis once more: of a large program fewer.
constexpr std::size_t kMostTrials = 12;
constexpr std::size_t kFewestTrials = 1;
constexpr std::size_t kMostExprs = 600'000;  // in all trials

bool declares_ghosts(const Program& program) {
  const auto has = [](const auto& of) { return !of.ghosts.empty(); };
  return std::ranges::any_of(program.functions, has) ||
         std::ranges::any_of(program.classes, [&](const Class& of) {
           return has(of) || std::ranges::any_of(of.methods, has);
         });
}

// Of two copies of a program.
void each_field(auto& one, auto& other, auto does) {
  for (std::size_t i = 0; i < one.classes.size(); ++i) {
    for (std::size_t j = 0; j < one.classes[i].fields.size(); ++j) {
      does(one.classes[i].fields[j], other.classes[i].fields[j], &one.classes[i]);
    }
  }
  for (std::size_t i = 0; i < one.globals.size(); ++i) {
    does(one.globals[i], other.globals[i], static_cast<const Class*>(nullptr));
  }
}

const Method& method_of(const Program& program, std::size_t index) {
  for (const Class& of : program.classes) {
    if (index < of.methods.size()) return of.methods[index];
    index -= of.methods.size();
  }
  return program.functions[index];
}

// What was inferred, and of which program.
struct GhostTrial {
  Program program;
  GuardInference guards;
  Inference atomicities;
};

class GhostSearch {
 public:
  GhostSearch(Program base, GhostTrial plain, Nulls nulls)
      : base_(std::move(base)),
        best_(std::move(plain)),
        nulls_(nulls),
        classes_(base_, base_.locks),
        flow_(flow_of(base_, base_.locks, classes_)),
        requirements_(base_.locks, classes_, flow_),
        families_(base_),
        called_(classes_.method_count()),
        trials_(std::clamp(kMostExprs / (base_.exprs.size() + 1), kFewestTrials, kMostTrials)) {
    for (const CallSite& site : flow_.calls) {
      if (!site.forked) called_[static_cast<std::size_t>(site.callee)] = true;
    }
  }

  GhostTrial run() {
    const GhostFamilies wanted = wanted_families();
    GhostFamilies guards;
    for (const auto& [family, use] : wanted) {
      if (use == GhostUse::kGuards) guards.emplace(family, use);
    }
    // All at once, or one by one.
    if (!guards.empty() && !improve(guards)) {
      for (const auto& one : guards) {
        if (kept_.contains(one.first)) continue;
        GhostFamilies more = kept_;
        more.insert(one);
        improve(more);
      }
    }
    for (const std::string& family : protected_families(wanted)) {
      if (kept_.contains(family)) continue;
      GhostFamilies more = kept_;
      more.emplace(family, GhostUse::kProtects);
      improve(more);
    }
    return std::move(best_);
  }

 private:
  GhostFamilies wanted_families() const {
    GhostFamilies wanted;
    const auto has_locks = [&](const Class& of) {
      return flow_.locked_classes.contains(of.name) ||
             std::ranges::any_of(of.fields, [&](const Field& field) {
               return !field.is_static && flow_.lock_fields.contains(&field);
             });
    };
    for (const Class& of : base_.classes) {
      if (has_locks(of)) wanted.emplace(families_.of(of.name), GhostUse::kProtects);
    }
    each_field(base_, best_.program, [&](const Field& field, const Field& after, const Class* of) {
      const bool open = of != nullptr && !field.is_static && flow_.changing.contains(&field) &&
                        after.guard.kind == Guard::Kind::kUnset;
      if (open) wanted[families_.of(of->name)] = GhostUse::kGuards;
    });
    return wanted;
  }

  // Keeps those that are of use, if all is well with them.
  bool improve(GhostFamilies wanted) {
    GhostFamilies last;
    while (!wanted.empty() && trials_ > 0) {
      const GhostTypes types =
          ghost_types(base_, base_.locks, classes_, flow_, requirements_, wanted, nulls_);
      const bool is_new = types.families != kept_ && types.families != last;
      if (types.families.empty() || !is_new) return false;
      last = types.families;
      --trials_;
      auto made = infer(types);
      if (!made) return false;
      if (!is_sound(*made)) {
        const std::set<std::string> blamed = blamed_families(types, *made);
        if (blamed.empty()) return false;
        wanted = types.families;
        std::erase_if(wanted, [&](const auto& one) { return blamed.contains(one.first); });
        continue;
      }
      const std::set<std::string> useful = useful_families(types, *made);
      const bool all = std::ranges::all_of(
          types.families, [&](const auto& one) { return useful.contains(one.first); });
      if (all) {
        best_ = std::move(*made);
        kept_ = types.families;
        return true;
      }
      wanted = types.families;
      std::erase_if(wanted, [&](const auto& one) { return !useful.contains(one.first); });
    }
    return false;
  }

  // Those whose objects somebody has under a lock of his.
  std::set<std::string> protected_families(GhostFamilies wanted) {
    std::set<std::string> found;
    std::erase_if(wanted, [](const auto& one) { return one.second != GhostUse::kProtects; });
    std::map<const Field*, LockId> locks;
    GhostFields(base_.locks, classes_, flow_, requirements_, families_, Locks::kUnknown)
        .choose(wanted, {}, {}, locks);
    for (const auto& [field, lock] : locks) {
      if (lock != Locks::kNone && lock != Locks::kUnknown) {
        found.insert(families_.of(field->type.name));
      }
    }
    return found;
  }

  std::optional<GhostTrial> infer(const GhostTypes& types) const {
    GhostTrial made = {.program = base_, .guards = {}, .atomicities = {}};
    add_ghosts(made.program, base_, types, families_);
    std::set<const Field*> open;
    each_field(made.program, best_.program, [&](Field& field, const Field& before, const Class*) {
      // What never changes needs no lock, even if all happen to hold one now.
      if (before.guard.kind == Guard::Kind::kFinal) field.guard = before.guard;
      if (before.guard.kind == Guard::Kind::kUnset || is_by_ghost(best_.program, before)) {
        open.insert(&field);
      }
    });
    auto guards = infer_guards(made.program, &open);
    if (!guards) return std::nullopt;
    made.guards = std::move(*guards);
    auto atomicities = infer_atomicities(made.program, senseless());
    if (!atomicities) return std::nullopt;
    made.atomicities = std::move(*atomicities);
    return made;
  }

  Senseless senseless() const {
    return nulls_ == Nulls::kNone ? Senseless::kRefused : Senseless::kUnknown;
  }

  static bool is_by_ghost(const Program& program, const Field& field) {
    const bool by_lock = field.guard.kind == Guard::Kind::kGuardedBy ||
                         field.guard.kind == Guard::Kind::kWriteGuardedBy;
    return by_lock && program.locks[field.guard.lock].kind == core::Lock::Kind::kGhost;
  }

  // Nothing is worse than it was.
  bool is_sound(const GhostTrial& made) const {
    bool sound = made.atomicities.left_out == best_.atomicities.left_out;
    each_field(made.program, best_.program,
               [&](const Field& field, const Field& before, const Class*) {
                 // Equal locks need not have equal ids in two copies.
                 const bool same = field.guard.kind == before.guard.kind &&
                                   made.program.locks.to_string(field.guard.lock) ==
                                       best_.program.locks.to_string(before.guard.lock);
                 sound &= same || is_by_ghost(made.program, field);
               });
    const auto& now = made.atomicities.methods;
    const auto& then = best_.atomicities.methods;
    for (std::size_t i = 0; i < now.size(); ++i) {
      sound &= now[i].basic <= then[i].basic && (called_[i] || !needs_more(made, i));
    }
    const std::set<std::string> known = findings_of(best_);
    sound &= std::ranges::all_of(
        findings_of(made), [&](const std::string& finding) { return known.contains(finding); });
    return sound;
  }

  // A lock that it did not need before, and does not say it requires. Whoever calls it needs that
  // lock, too, unless he holds it.
  bool needs_more(const GhostTrial& made, std::size_t method) const {
    std::set<std::string> said(best_.atomicities.methods[method].needed.begin(),
                               best_.atomicities.methods[method].needed.end());
    for (const LockId lock : method_of(made.program, method).requires_held) {
      said.insert(made.program.locks.to_string(lock));
    }
    return std::ranges::any_of(made.atomicities.methods[method].needed,
                               [&](const std::string& lock) { return !said.contains(lock); });
  }

  // What is said of it may change with what is known.
  static std::string key_of(const Finding& finding) {
    const std::string& of =
        finding.transactions.empty() ? finding.message : finding.transactions[0].label;
    return std::to_string(static_cast<int>(finding.kind)) + " " + of;
  }

  static std::set<std::string> findings_of(const GhostTrial& made) {
    std::set<std::string> found;
    for (const auto* all : {&made.guards.findings, &made.atomicities.findings}) {
      for (const Finding& finding : *all) found.insert(key_of(finding));
    }
    return found;
  }

  // Those with a field or method of which there is something new to tell.
  std::set<std::string> blamed_families(const GhostTypes& types, const GhostTrial& made) const {
    std::set<std::string> blamed;
    const std::set<std::string> known = findings_of(best_);
    for (const Finding& finding : made.guards.findings) {
      if (known.contains(key_of(finding)) || finding.events.empty()) continue;
      for (const Class& of : base_.classes) {
        const std::string& name = of.display.empty() ? of.name : of.display;
        const std::string family = families_.of(of.name);
        if (types.families.contains(family) && !kept_.contains(family) &&
            finding.events[0].variable.starts_with(name + ".")) {
          blamed.insert(family);
        }
      }
    }
    return blamed;
  }

  // Those with a field that is guarded now; those that have parts of such; and those that protect,
  // if methods are atomic that were not.
  std::set<std::string> useful_families(const GhostTypes& types, const GhostTrial& made) const {
    std::set<std::string> useful;
    const auto& now = made.atomicities.methods;
    const auto& then = best_.atomicities.methods;
    bool better = findings_of(made).size() < findings_of(best_).size();
    for (std::size_t i = 0; i < now.size(); ++i) {
      better |= now[i].basic <= Basic::kAtomic && then[i].basic > Basic::kAtomic;
    }
    for (const auto& [family, use] : types.families) {
      const bool kept = kept_.contains(family);
      if (use == GhostUse::kProtects && (better || kept)) useful.insert(family);
    }
    for (const Class& of : made.program.classes) {
      const bool guards = std::ranges::any_of(
          of.fields, [&](const Field& field) { return is_by_ghost(made.program, field); });
      if (guards) useful.insert(families_.of(of.name));
    }
    for (bool more = true; more;) {
      more = false;
      for (const auto& [field, lock] : types.fields) {
        const Class* owner = classes_.owner(*field);
        if (lock != types.ghost || owner == nullptr) continue;
        if (useful.contains(families_.of(field->type.name))) {
          more |= useful.insert(families_.of(owner->name)).second;
        }
      }
    }
    return useful;
  }

  Program base_;
  GhostTrial best_;
  Nulls nulls_;
  Classes classes_;
  Flow flow_;
  Requirements requirements_;
  Families families_;
  std::vector<bool> called_;
  GhostFamilies kept_;
  std::size_t trials_;
};

}  // namespace

Result<GuardInference> infer_guards_and_ghosts(core::Program& program, Nulls nulls) {
  settle_lock_parameters(program);
  if (declares_ghosts(program)) return infer_guards(program);
  Program base = program;
  auto guards = infer_guards(program);
  if (!guards) return guards;
  auto atomicities =
      infer_atomicities(program, nulls == Nulls::kNone ? Senseless::kRefused : Senseless::kUnknown);
  if (!atomicities) return guards;  // whoever asks for them is told why
  GhostTrial made = GhostSearch(std::move(base),
                                {.program = std::move(program),
                                 .guards = std::move(*guards),
                                 .atomicities = std::move(*atomicities)},
                                nulls)
                        .run();
  program = std::move(made.program);
  return std::move(made.guards);
}

}  // namespace tomos::infer
