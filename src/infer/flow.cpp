#include "infer/flow.h"

#include <algorithm>
#include <utility>

#include "core/any_object.h"
#include "infer/flow_calls.h"
#include "infer/flow_walk.h"

namespace tomos::infer {

using core::Field;
using core::Guard;
using core::Method;

namespace {

// What a method does to locks is known after as many rounds as calls are nested that pass it on.
constexpr int kMostRounds = 5;

}  // namespace

Flow Walker::run() {
  for (int round = 0; round < kMostRounds; ++round) {
    Flow before = std::exchange(made_, {});
    made_.changing = std::move(before.changing);
    made_.wandering = std::move(before.wandering);
    known_holds_.clear();
    acquires_ = std::move(before.acquires);
    releases_ = std::move(before.releases);
    for (std::size_t i = 0; i < classes_.method_count(); ++i) method(static_cast<MethodId>(i));
    main_block();
    if (round == 0) {
      initialising_ = initialising_methods(made_, classes_);
      made_.changing = changing_fields(made_, initialising_, locks_);
      made_.wandering = wandering_fields(made_, classes_);
    } else if (made_.acquires == acquires_ && made_.releases == releases_) {
      break;
    }
  }
  find_roles();
  made_.spare = spare_instantiations(made_, classes_);
  made_.acquiring = made_.excluded;
  exclude_for_callers(made_, classes_, locks_);
  return std::move(made_);
}

bool Walker::is_final(const Field& field) const {
  if (field.guard.kind == Guard::Kind::kFinal) return true;
  return field.guard.kind == Guard::Kind::kUnset && !made_.wandering.contains(&field);
}

const Field* Walker::field_of(MethodId id, LockId lock) {
  const core::Lock of = locks_[lock];
  if (of.kind == core::Lock::Kind::kVariable) return classes_.global(of.name);
  if (of.kind != core::Lock::Kind::kField) return nullptr;
  const core::Lock base = locks_[of.base];
  const MethodOf& method = classes_[id];
  std::optional<FieldUse> use;
  if (base.kind == core::Lock::Kind::kField) {
    if (const Field* above = field_of(id, of.base))
      use = classes_.field(above->type, of.base, of.name);
  } else if (base.name == "this" && method.owner != nullptr) {
    use = classes_.field(classes_.self_type(*method.owner), of.base, of.name);
  }
  return use ? use->field : nullptr;
}

void Walker::find_roles() {
  for (std::size_t i = 0; i < classes_.method_count(); ++i) {
    const auto id = static_cast<MethodId>(i);
    for (const LockId lock : classes_[id].method->requires_held) {
      const Field* of = field_of(id, lock);
      if (of == nullptr || made_.lock_fields.contains(of)) continue;
      made_.role_fields.insert(of);
      made_.roles.insert({.method = id, .lock = lock});
    }
  }
  made_.lock_fields.insert(made_.role_fields.begin(), made_.role_fields.end());
}

void Walker::begin(MethodId id) {
  current_ = id;
  variables_.clear();
  fields_.clear();
  way_ = {};
  exits_.clear();
  loops_.clear();
  sections_.clear();
  silent_ = 0;
}

void Walker::method(MethodId id) {
  const MethodOf& of = classes_[id];
  method_ = of.method;
  if (method_->body == core::kNoExpr || method_->no_warn) return;
  begin(id);
  if (of.owner != nullptr && method_->kind != Method::Kind::kStatic) {
    variables_["this"] = {.type = classes_.self_type(*of.owner), .path = locks_.variable("this")};
  }
  for (const core::Parameter& parameter : method_->parameters) {
    variables_[parameter.name] = {.type = parameter.type, .path = locks_.variable(parameter.name)};
  }
  expr(method_->body);
  leave();
  note_effects(id);
}

void Walker::main_block() {
  if (program_.main == core::kNoExpr) return;
  method_ = nullptr;
  begin(kMain);
  way_.holds[Locks::kThread].depth = 1;
  expr(program_.main);
}

void Walker::leave() {
  if (!way_.reachable) return;
  Way last = way_;
  for (const Section& section : sections_) leave_section(last, section.lock);
  exits_.push_back(std::move(last));
  way_.reachable = false;
}

bool Walker::is_callers(LockId lock) const {
  return method_ != nullptr && !core::is_of_any(locks_, lock) &&
         locks_[locks_.root(lock).first].kind == core::Lock::Kind::kVariable &&
         !classes_.is_local(current_, lock);
}

void Walker::note_effects(MethodId id) {
  if (exits_.empty() || method_->is_given) return;
  Way all = exits_[0];
  for (const Way& exit : exits_) all = meet(all, exit);
  for (const auto& [lock, hold] : all.holds) {
    if (hold.maybe || !is_callers(lock)) continue;
    const auto declared = [&](const std::vector<LockId>& locks) {
      return std::ranges::find(locks, lock) != locks.end();
    };
    if (hold.depth > 0 && !hold.released && !declared(method_->acquires)) {
      made_.acquires[id].push_back(lock);
    } else if (hold.depth == 0 && hold.released && !declared(method_->releases)) {
      made_.releases[id].push_back(lock);
    }
  }
}

HoldsId Walker::holds_now(Access::Kind kind) {
  Holds now = way_.holds;
  if (kind != Access::Kind::kRead) {
    for (auto& [lock, hold] : now) {
      if (hold.shared) hold = {.depth = 0, .released = true, .shared = true};
    }
  }
  const auto [at, is_new] =
      known_holds_.try_emplace(std::move(now), static_cast<HoldsId>(made_.holds.size()));
  if (is_new) made_.holds.push_back(at->first);
  return at->second;
}

void Walker::forget(LockId variable) {
  std::vector<LockId> gone;
  for (const auto& [lock, hold] : way_.holds) {
    if (locks_.root(lock).first == variable) gone.push_back(lock);
  }
  for (const LockId lock : gone) {
    const auto any = of_any(lock);
    for (int i = way_.holds[lock].depth; any && i > 0; --i) drop(way_, *any);
    way_.holds.erase(lock);
  }
}

LockId Walker::lock_of(ExprId id) {
  const Value value = object(id);
  if (!classes_.is_reentrant(value.type)) is_mutex_.insert(id);
  const auto end = fields_.find(value.path);
  // Nobody knows whose it is; but it is one of those.
  const bool is_somebodys =
      value.path == Locks::kUnknown && value.field != nullptr && !value.field->is_static;
  if (is_somebodys) {
    made_.lock_fields.insert(value.field);
    if (const core::Class* owner = classes_.owner(*value.field)) {
      return core::of_any(locks_, owner->name, value.field->name);
    }
  }
  if (end == fields_.end()) {
    const auto variable = variables_.find(locks_[value.path].name);
    const bool is_got = variable != variables_.end() && variable->second.field != nullptr;
    if (is_got) made_.lock_fields.insert(variable->second.field);
    if (!is_got && value.path != Locks::kUnknown) made_.locked_classes.insert(value.type.name);
    return value.path;
  }
  made_.lock_fields.insert(end->second);
  for (LockId at = value.path; locks_[at].kind == core::Lock::Kind::kField;) {
    at = locks_[at].base;
    if (const auto on_the_way = fields_.find(at); on_the_way != fields_.end()) {
      made_.leading_fields.insert(on_the_way->second);
    }
  }
  return value.path;
}

std::optional<LockId> Walker::of_any(LockId lock) const {
  const auto [begin, length] = locks_.root(lock);
  const std::string& root = locks_[begin].name;
  if (const auto known = variables_.find(root); known != variables_.end()) {
    const Field* from = length == 0 ? known->second.field : nullptr;
    const core::Class* owner = from == nullptr ? nullptr : classes_.owner(*from);
    if (owner != nullptr) return core::of_any(locks_, owner->name, from->name);
    return classes_.of_any(known->second.type, lock);
  }
  const Field* shared = classes_.global(root);
  return shared == nullptr ? std::nullopt : classes_.of_any(shared->type, lock);
}

void Walker::take(LockId lock, bool shared) {
  if (lock == Locks::kUnknown) return;
  const auto hold = [&](LockId one) {
    Hold& here = way_.holds[one];
    here.shared = shared && (here.depth == 0 || here.shared);
    ++here.depth;
  };
  hold(lock);
  if (const auto any = of_any(lock)) hold(*any);
}

void Walker::leave_section(Way& way, LockId lock) {
  drop(way, lock);
  if (const auto any = of_any(lock)) drop(way, *any);
}

void Walker::exclude(LockId lock, ExprId id) {
  if (lock == Locks::kUnknown || !way_.reachable) return;
  if (!is_mutex_.contains(program_[id].children[0])) return;
  // Of a local variable the caller knows nothing, whatever it calls its own.
  const bool is_local = current_ != kMain && classes_.is_local(current_, lock);
  if (!is_local && !way_.holds.contains(lock)) made_.excluded.insert({current_, lock});
  const auto any = of_any(lock);
  if (any && !way_.holds.contains(*any)) made_.excluded.insert({current_, *any});
}

void Walker::give(LockId lock) {
  if (lock == Locks::kUnknown) return;
  const auto any = core::is_of_any(locks_, lock) ? lock : of_any(lock);
  if (!give_back(way_, lock)) {
    presume(lock);
    if (any) doubt(*any);
  } else if (any == lock) {
    doubt(lock);
  }
  if (any && any != lock) give_back(way_, *any);
}

// What was given back by a name that nothing was taken by may be any of these, by another name.
void Walker::doubt(LockId any) {
  for (auto& [lock, hold] : way_.holds) {
    if (lock != any && hold.depth > 0 && of_any(lock) == any) {
      hold.depth = 0;
      hold.maybe = true;
    }
  }
}

void Walker::presume(LockId lock) {
  if (silent_ > 0 || !way_.reachable || method_ == nullptr || !is_callers(lock)) return;
  made_.presumed.push_back({.method = current_, .lock = lock});
}

std::string_view to_string(Access::Kind kind) {
  switch (kind) {
    case Access::Kind::kRead:
      return "read";
    case Access::Kind::kWrite:
      return "write";
    case Access::Kind::kUpdate:
      return "update";
  }
  return "";
}

Flow flow_of(const core::Program& program, Locks& locks, Classes& classes) {
  return Walker(program, locks, classes).run();
}

}  // namespace tomos::infer
