#include "infer/guard_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/any_object.h"
#include "infer/conditional.h"

namespace tomos::infer {

using core::Class;
using core::Expr;
using core::Field;
using core::Guard;
using core::Method;

namespace {

constexpr const char* kAsWriter = " as a writer";

const std::string& shown(const auto& of) { return of.display.empty() ? of.name : of.display; }

}  // namespace

void GuardFindings::tell_accesses(const Guarded& of) {
  const Field& field = of.field;
  const bool writes_only = field.guard.kind == Guard::Kind::kWriteGuardedBy;
  if (!writes_only && field.guard.kind != Guard::Kind::kGuardedBy) return;
  std::vector<const Access*> broken;
  std::size_t total = 0;
  const std::optional<LockId> any = classes_.of_any(of.owner, field.guard);
  for (const Access* access : of.accesses) {
    if (access->unshared || (writes_only && access->kind == Access::Kind::kRead)) continue;
    ++total;
    const LockId here = substitute(locks_, access->theta, field.guard.lock);
    if (!holds(access->method, access->holds, here, any)) broken.push_back(access);
  }
  const std::string name =
      of.owner == nullptr ? shown(field) : fmt::format("{}.{}", shown(*of.owner), shown(field));
  for (const Access* access : broken) {
    excuse(access->expr, Expr::Excused::kReported);
    Finding made = begin(access->method, access->expr, std::string(to_string(access->kind)), name);
    const LockId lock = substitute(locks_, access->theta, field.guard.lock);
    const bool as_reader = flow_.is_held_as_reader(access->holds, lock);
    const bool is_lent = program_[access->expr].is_lent;
    made.message = fmt::format("{} is guarded by {} in {} of {} {}; {}", name,
                               locks_.to_string(field.guard.lock), total - broken.size(), total,
                               writes_only ? "writes" : "accesses",
                               is_lent     ? "here it is handed out, by reference or address"
                               : as_reader ? "here only a reader's lock is held"
                                           : "not here");
    made.fix =
        is_lent ? fmt::format(
                      "hand out a copy that is made under {}, or hold it as long as that is used",
                      locks_.to_string(lock))
                : fmt::format("hold {} here{}", locks_.to_string(lock), as_reader ? kAsWriter : "");
    findings.push_back(std::move(made));
  }
}

void GuardFindings::tell_calls(std::size_t index, const Choice& choice) {
  const auto& [method, lock, as_writer] = requirements_.key(index);
  std::vector<const CallSite*> broken;
  for (const Requirements::Use& use : requirements_.uses(index)) {
    const bool held =
        use.status == Requirements::Status::kHeld ||
        (use.status == Requirements::Status::kIfRequired && choice.required[use.required]);
    if (!held) broken.push_back(use.site);
    const LockId here = substitute(locks_, use.site->theta, lock);
    const bool as_any = core::is_of_any(locks_, here) || here == Locks::kUnknown ||
                        (use.status == Requirements::Status::kIfRequired &&
                         core::is_of_any(locks_, requirements_.key(use.required).lock));
    if (held && (as_any || flow_.is_loose(locks_, here) ||
                 requirements_.is_held_by_owner(flow_[use.site->holds], here))) {
      excuse(use.site->expr, Expr::Excused::kReported);
    }
  }
  const std::size_t total = requirements_.uses(index).size();
  for (const CallSite* site : broken) {
    excuse(site->expr, Expr::Excused::kReported);
    Finding made = begin(site->caller, site->expr, "call", name_of(method));
    made.message =
        fmt::format("{} requires {}, which is held at {} of {} calls; not here", name_of(method),
                    locks_.to_string(lock), total - broken.size(), total);
    const LockId here = substitute(locks_, site->theta, lock);
    if (here != Locks::kUnknown) made.fix = fmt::format("hold {} here", locks_.to_string(here));
    findings.push_back(std::move(made));
  }
}

void GuardFindings::tell_wrong_calls() {
  const auto tell = [&](const CallSite& site, Kind kind, std::string message, std::string fix) {
    Finding made = begin(site.caller, site.expr, "call", name_of(site.callee));
    made.kind = kind;
    made.message = std::move(message);
    made.fix = std::move(fix);
    findings.push_back(std::move(made));
  };
  const auto seen = [&](const WrongCall& call) {
    return locks_.to_string(substitute(locks_, call.site->theta, call.lock));
  };
  for (const WrongCall& call : calls_of_readers(locks_, classes_, flow_)) {
    excuse(call.site->expr, Expr::Excused::kReported);
    tell(*call.site, Kind::kRace,
         fmt::format("{} writes what {} guards; here only a reader's lock is held",
                     name_of(call.site->callee), locks_.to_string(call.lock)),
         fmt::format("hold {} here{}", seen(call), kAsWriter));
  }
  std::vector<WrongCall> again = calls_that_lock_again(locks_, flow_);
  entered_again = take_entered_again(again, locks_, classes_);
  for (const WrongCall& call : again) {
    tell(*call.site, Kind::kDeadlock,
         fmt::format("{} acquires {}, which is held here: it waits for itself",
                     name_of(call.site->callee), seen(call)),
         fmt::format("call it without {}, or one that requires it instead", seen(call)));
  }
}

// A lock behind a pointer that may be set to null, or of an object's owner, is as good as any
// other, but nothing that the type rules see.
void GuardFindings::excuse_loose(const Guarded& of, const Guard& guard) {
  if (guard.kind != Guard::Kind::kGuardedBy && guard.kind != Guard::Kind::kWriteGuardedBy) return;
  const std::optional<LockId> any = classes_.of_any(of.owner, guard);
  for (const Access* access : of.accesses) {
    const LockId here = substitute(locks_, access->theta, guard.lock);
    const LockId known = requirements_.known(access->method, flow_[access->holds], here, any).lock;
    const bool unsaid = here == Locks::kUnknown || flow_.is_loose(locks_, here) ||
                        core::is_of_any(locks_, known) ||
                        requirements_.is_held_by_owner(flow_[access->holds], here);
    if (unsaid && holds(access->method, access->holds, here, any)) {
      excuse(access->expr, Expr::Excused::kReported);
    }
  }
}

// The type rules know of constructors, and of nothing else that is done to new objects.
void GuardFindings::excuse_unshared() {
  for (const Access& access : flow_.accesses) {
    if (access.unshared) excuse(access.expr, Expr::Excused::kUnshared);
    if (flow_.spare.contains(access.method)) excuse(access.expr, Expr::Excused::kReported);
  }
  for (const CallSite& site : flow_.calls) {
    if (site.unshared) excuse(site.expr, Expr::Excused::kUnshared);
    if (flow_.spare.contains(site.caller)) excuse(site.expr, Expr::Excused::kReported);
  }
}

void GuardFindings::excuse(ExprId id, Expr::Excused why) {
  program_.exprs[static_cast<std::size_t>(id)].excused = why;
}

bool GuardFindings::is_required(MethodId method, LockId lock) const {
  if (method == kMain) return false;
  const Method& of = *classes_[method].method;
  const auto has = [&](const std::vector<LockId>& locks) {
    return std::ranges::find(locks, lock) != locks.end();
  };
  const auto found = flow_.releases.find(method);
  return has(of.requires_held) || has(of.releases) ||
         (found != flow_.releases.end() && has(found->second));
}

bool GuardFindings::holds(MethodId method, HoldsId at, LockId lock,
                          std::optional<LockId> any) const {
  const auto found = requirements_.known(method, flow_[at], lock, any);
  if (found.status == Requirements::Status::kHeld) return true;
  const auto known = flow_[at].find(found.lock);
  const bool released = known != flow_[at].end() && known->second.released;
  return !released && is_required(method, found.lock);
}

std::string GuardFindings::name_of(MethodId id) const {
  if (id == kMain) return "main";
  const MethodOf& of = classes_[id];
  return of.owner == nullptr || !of.method->display.empty()
             ? shown(*of.method)
             : fmt::format("{}.{}", shown(*of.owner), shown(*of.method));
}

Location GuardFindings::location(const core::Position& position) const {
  if (position.file >= program_.files.size()) return {};
  return {.file = program_.files[position.file], .line = position.line, .column = position.column};
}

Finding GuardFindings::begin(MethodId method, ExprId expr, std::string op,
                             std::string object) const {
  Finding made = {.analysis = "infer", .kind = Kind::kRace, .verdict = Certainty::kPredicted};
  const core::Position& at =
      method == kMain ? program_[program_.main].position : classes_[method].method->position;
  made.transactions.push_back({.label = name_of(method), .location = location(at)});
  made.events.push_back({.op = std::move(op),
                         .variable = std::move(object),
                         .location = location(program_[expr].position)});
  return made;
}

std::vector<std::string> GuardFindings::told_entered_again() const {
  std::vector<std::string> made;
  made.reserve(entered_again.size());
  for (const auto& [own, calls] : entered_again) {
    made.push_back(
        fmt::format("{} of {} ({} calls)", locks_.to_string(own.second), shown(*own.first), calls));
  }
  return made;
}

}  // namespace tomos::infer
