// The walk through expressions: accesses, calls, new objects, branches and loops.
#include <utility>

#include "infer/flow_calls.h"
#include "infer/flow_walk.h"

namespace tomos::infer {

using core::Expr;
using core::Field;
using core::Method;

bool Walker::is_construction() const {
  return method_ != nullptr && (method_->kind == Method::Kind::kConstructor ||
                                method_->kind == Method::Kind::kDestructor);
}

Walker::Value Walker::expr(ExprId id) {
  const Expr& of = program_[id];
  switch (of.kind) {
    case Expr::Kind::kVariable:
      way_.unshared.erase(of.name);  // whatever it is used for, others may learn of it
      if (of.name == "this") made_.leaking.insert(current_);
      return variable(id);
    case Expr::Kind::kConstant:
    case Expr::Kind::kNull:
      return {};
    case Expr::Kind::kNew:
      return new_object(id);
    case Expr::Kind::kField:
      return field(id);
    case Expr::Kind::kAssign:
    case Expr::Kind::kUpdate:
      return assign(id);
    case Expr::Kind::kCall:
      return call(id, false);
    case Expr::Kind::kFork:
      return call(of.children[0], true);
    case Expr::Kind::kOperator:
      condition(id);
      return {.type = {.name = "int"}};
    case Expr::Kind::kLet:
      return let(id);
    case Expr::Kind::kSequence: {
      Value last;
      for (const ExprId child : of.children) last = expr(child);
      return last;
    }
    case Expr::Kind::kIf: {
      const auto [yes, no] = condition(of.children[0]);
      way_ = yes;
      const Value value = expr(of.children[1]);
      const Way after = std::exchange(way_, no);
      expr(of.children[2]);
      way_ = meet(after, way_);
      return {.type = value.type};
    }
    case Expr::Kind::kWhile:
      loop(id);
      return {};
    case Expr::Kind::kSync: {
      const LockId lock = lock_of(of.children[0]);
      if (lock == Locks::kUnknown) return expr(of.children[1]);
      exclude(lock, id);
      take(lock, of.is_shared);
      sections_.push_back({.lock = lock, .expr = id});
      const Value value = expr(of.children[1]);
      sections_.pop_back();
      if (way_.reachable) leave_section(way_, lock);
      return value;
    }
    case Expr::Kind::kLock: {
      const LockId lock = lock_of(of.children[0]);
      exclude(lock, id);
      take(lock, of.is_shared);
      return {};
    }
    case Expr::Kind::kTryLock: {
      const LockId lock = lock_of(of.children[0]);
      if (lock == Locks::kUnknown) return {.type = {.name = "int"}};
      way_.holds[lock].maybe = true;
      if (const auto any = of_any(lock)) way_.holds[*any].maybe = true;
      return {.type = {.name = "int"}};
    }
    case Expr::Kind::kUnlock:
      give(lock_of(of.children[0]));
      return {};
    case Expr::Kind::kWait: {
      const LockId lock = lock_of(of.children[0]);
      if (lock != Locks::kUnknown && !way_.holds.contains(lock)) presume(lock);
      return {};
    }
    case Expr::Kind::kAtomic:
    case Expr::Kind::kExpect:
      return expr(of.children[0]);
    case Expr::Kind::kNoWarn: {
      ++silent_;
      const Value value = expr(of.children[0]);
      --silent_;
      return value;
    }
    case Expr::Kind::kReturn:
      for (const ExprId child : of.children) expr(child);
      leave();
      return {};
    case Expr::Kind::kBreak:
    case Expr::Kind::kContinue: {
      if (loops_.empty() || !way_.reachable) return {};
      Loop& around = loops_.back();
      Way out = way_;
      for (std::size_t i = around.sections; i < sections_.size(); ++i) {
        leave_section(out, sections_[i].lock);
      }
      (of.kind == Expr::Kind::kBreak ? around.breaks : around.continues).push_back(std::move(out));
      way_.reachable = false;
      return {};
    }
  }
  return {};
}

Walker::Value Walker::object(ExprId id) {
  return program_[id].kind == Expr::Kind::kVariable ? variable(id) : expr(id);
}

Walker::Value Walker::variable(ExprId id) {
  const Expr& of = program_[id];
  if (const auto known = variables_.find(of.name); known != variables_.end()) {
    return {.type = known->second.type,
            .path = known->second.path,
            .unshared = way_.unshared.contains(of.name)};
  }
  const Field* shared = classes_.global(of.name);
  if (shared == nullptr) return {};
  const auto at = access(id, *shared, {}, Access::Kind::kRead, false);
  return {.type = shared->type, .path = path_of_global(*shared, of.name), .access = at};
}

LockId Walker::path_of_global(const Field& shared, const std::string& name) {
  if (!is_final(shared)) return Locks::kUnknown;
  const LockId made = locks_.variable(name);
  fields_[made] = &shared;
  if (made_.changing.contains(&shared)) made_.loose.insert(made);
  return made;
}

std::optional<std::size_t> Walker::access(ExprId id, const Field& field, Substitution theta,
                                          Access::Kind kind, bool unshared) {
  // Who takes a lock in a destructor knows that others still see the object.
  const bool is_seen =
      method_ != nullptr && method_->kind == Method::Kind::kDestructor &&
      std::ranges::any_of(way_.holds, [](const auto& one) { return one.second.depth > 0; });
  const bool initial =
      (is_construction() && !is_seen) || (initialising_.contains(current_) && way_.holds.empty());
  const bool own = initial && theta.find("this") == locks_.variable("this");
  if (silent_ > 0 || !way_.reachable) return std::nullopt;
  made_.accesses.push_back({.kind = kind,
                            .field = &field,
                            .method = current_,
                            .expr = id,
                            .theta = std::move(theta),
                            .holds = holds_now(kind),
                            .unshared = unshared || own});
  return made_.accesses.size() - 1;
}

Walker::Value Walker::field(ExprId id) {
  const Expr& of = program_[id];
  const Value object_value = object(of.children[0]);
  const auto use = classes_.field(object_value.type, object_value.path, of.name);
  if (!use) return {};
  const auto at = access(id, *use->field, use->theta, Access::Kind::kRead, object_value.unshared);
  return {.type = classes_.substitute(use->theta, use->field->type),
          .path = path(object_value.path, *use->field),
          .access = at,
          .field = use->field};
}

LockId Walker::path(LockId object_path, const Field& of) {
  if (object_path == Locks::kUnknown || !is_final(of)) return Locks::kUnknown;
  if (locks_.root(object_path).second >= kMostFields) return Locks::kUnknown;
  const LockId made = locks_.field(object_path, of.name);
  fields_[made] = &of;
  if (made_.changing.contains(&of)) made_.loose.insert(made);
  return made;
}

Walker::Value Walker::assign(ExprId id) {
  const Expr& of = program_[id];
  const Expr& left = program_[of.children[0]];
  const Access::Kind kind =
      of.kind == Expr::Kind::kUpdate ? Access::Kind::kUpdate : Access::Kind::kWrite;
  const auto note_value = [&](std::optional<std::size_t> at) {
    if (!at) return;
    const Expr& written = value_of(program_, of.children[1]);
    made_.accesses[*at].empties =
        written.kind == Expr::Kind::kNull && written.name == core::kGone;  // a null that is meant
    made_.accesses[*at].makes = written.kind == Expr::Kind::kNew;
  };
  if (left.kind != Expr::Kind::kField) {
    const Value value = expr(of.children[1]);
    const Field* shared = classes_.global(left.name);
    if (shared == nullptr) return {.type = value.type};
    note_value(access(id, *shared, {}, kind, false));
    if (kind == Access::Kind::kWrite) return {.type = shared->type, .path = value.path};
    return {.type = shared->type, .path = path_of_global(*shared, left.name)};
  }
  const Value object_value = object(left.children[0]);
  const Value value = expr(of.children[1]);
  const auto use = classes_.field(object_value.type, object_value.path, left.name);
  if (!use) return {.type = value.type, .path = value.path};
  note_value(access(id, *use->field, use->theta, kind, object_value.unshared));
  // What is changed is still the same object, and its methods are called like this.
  return {.type = classes_.substitute(use->theta, use->field->type),
          .path = kind == Access::Kind::kWrite ? value.path : path(object_value.path, *use->field)};
}

void Walker::arguments(ExprId call, std::size_t first, const Method* method, Substitution& theta) {
  const Expr& of = program_[call];
  for (std::size_t i = first; i < of.children.size(); ++i) {
    const Value value = expr(of.children[i]);
    const bool known = method != nullptr && i - first < method->parameters.size();
    if (value.access && !(known && method->parameters[i - first].is_constant)) {
      made_.accesses[*value.access].changes = true;
    }
    if (!known) continue;
    const core::Parameter& parameter = method->parameters[i - first];
    if (!Classes::is_value(parameter.type)) {
      theta.pairs.emplace_back(parameter.name, value.path);
    }
  }
}

void Walker::invoke(CallSite site) {
  const Method& method = *classes_[site.callee].method;
  if (silent_ == 0 && way_.reachable) {
    site.caller = current_;
    site.holds = holds_now();
    const core::Position& at = program_[site.expr].position;
    for (const Section& section : sections_) {
      const Expr& block = program_[section.expr];
      if (block.is_callees && block.position == at) site.brings.push_back(section.lock);
    }
    made_.calls.push_back(site);
  }
  if (site.forked) return;
  const auto each = [&](const std::vector<LockId>& declared,
                        const std::map<MethodId, std::vector<LockId>>& found, const auto& does) {
    for (const LockId lock : declared) does(lock);
    const auto more = found.find(site.callee);
    if (more == found.end()) return;
    for (const LockId lock : more->second) does(lock);
  };
  each(method.acquires, acquires_,
       [&](LockId lock) { take(substitute(locks_, site.theta, lock), false); });
  each(method.releases, releases_, [&](LockId lock) { give(seen_here(site, lock)); });
}

// A lock of the callee, here: if it has no name here, that of any object of its class.
LockId Walker::seen_here(const CallSite& site, LockId lock) const {
  const LockId here = substitute(locks_, site.theta, lock);
  if (here != Locks::kUnknown) return here;
  const MethodOf& of = classes_[site.callee];
  const std::string& root = locks_[locks_.root(lock).first].name;
  const auto parameter = std::ranges::find(of.method->parameters, root, &core::Parameter::name);
  std::optional<LockId> any;
  if (root == "this" && of.owner != nullptr) {
    any = classes_.of_any(classes_.self_type(*of.owner), lock);
  } else if (parameter != of.method->parameters.end()) {
    any = classes_.of_any(parameter->type, lock);
  }
  return any.value_or(Locks::kUnknown);
}

Walker::Value Walker::call(ExprId id, bool forked) {
  const Expr& of = program_[id];
  CallSite site = {.expr = id, .forked = forked};
  Value receiver;
  if (of.children[0] == core::kNoExpr) {
    const auto function = classes_.function(of.name);
    if (!function) {
      arguments(id, 1, nullptr, site.theta);
      return {};
    }
    site.callee = *function;
  } else {
    receiver = object(of.children[0]);
    auto found = classes_.method(receiver.type, receiver.path, of.name);
    if (!found) {
      arguments(id, 1, nullptr, site.theta);
      return {};
    }
    site.callee = found->method;
    site.theta = std::move(found->theta);
    site.on_this = receiver.path == locks_.variable("this");
    site.unshared = receiver.unshared ||
                    (site.on_this && (is_construction() || initialising_.contains(current_)));
  }
  const Method& method = *classes_[site.callee].method;
  if (receiver.access && !method.is_constant) made_.accesses[*receiver.access].changes = true;
  for (std::size_t i = 0; i < method.ghosts.size() && i < of.locks.size(); ++i) {
    site.theta.pairs.emplace_back(method.ghosts[i], of.locks[i]);
  }
  arguments(id, 1, &method, site.theta);
  const Type result = classes_.substitute(site.theta, method.result);
  invoke(std::move(site));
  return {.type = result};
}

Walker::Value Walker::new_object(ExprId id) {
  const Expr& of = program_[id];
  CallSite site = {.expr = id, .unshared = true};
  const auto constructor = classes_.constructor(of.type.name);
  Type type = of.type;
  if (constructor) {
    const Method& method = *classes_[*constructor].method;
    const core::Class* made = classes_.find(type.name);
    site.callee = *constructor;
    site.theta = classes_.theta(type, Locks::kUnknown);
    const std::size_t own = made->ghosts.size();
    for (std::size_t i = 0; i < method.ghosts.size() && own + i < type.locks.size(); ++i) {
      site.theta.pairs.emplace_back(method.ghosts[i], type.locks[own + i]);
    }
    if (type.locks.size() > own) type.locks.resize(own);
    arguments(id, 0, &method, site.theta);
    invoke(std::move(site));
  } else {
    arguments(id, 0, nullptr, site.theta);
  }
  return {.type = type, .unshared = true};
}

Walker::Value Walker::let(ExprId id) {
  const Expr& of = program_[id];
  const Value value = expr(of.children[0]);
  const bool alias = value.path != Locks::kUnknown;
  const LockId own = locks_.variable(of.name);
  variables_[of.name] = {.type = of.type.name.empty() ? value.type : of.type,
                         .path = alias ? value.path : own,
                         .field = alias ? nullptr : value.field};
  const bool is_new = program_[of.children[0]].kind == Expr::Kind::kNew;
  if (is_new && way_.reachable) way_.unshared.insert(of.name);
  Value result = expr(of.children[1]);
  if (!alias) forget(own);
  variables_.erase(of.name);
  way_.unshared.erase(of.name);
  if (alias) return result;
  if (locks_.root(result.path).first == own) result.path = Locks::kUnknown;
  result.type = classes_.substitute({.pairs = {{of.name, Locks::kUnknown}}}, result.type);
  return result;
}

std::pair<Way, Way> Walker::condition(ExprId id) {
  const Expr& of = program_[id];
  if (of.kind == Expr::Kind::kTryLock) {
    const LockId lock = lock_of(of.children[0]);
    const Way no = way_;
    take(lock, of.is_shared);
    return {way_, no};
  }
  if (of.kind == Expr::Kind::kOperator && of.name == "!") {
    auto [yes, no] = condition(of.children[0]);
    return {std::move(no), std::move(yes)};
  }
  if (of.kind == Expr::Kind::kOperator && (of.name == "&&" || of.name == "||") &&
      of.children.size() == 2) {
    const bool both = of.name == "&&";
    auto [yes, no] = condition(of.children[0]);
    way_ = both ? yes : no;
    auto [second_yes, second_no] = condition(of.children[1]);
    std::pair<Way, Way> made = both ? std::pair(second_yes, meet(no, second_no))
                                    : std::pair(meet(yes, second_yes), second_no);
    way_ = meet(made.first, made.second);
    return made;
  }
  if (of.kind == Expr::Kind::kOperator) {
    for (const ExprId child : of.children) expr(child);
  } else {
    expr(id);
  }
  const bool always = of.kind == Expr::Kind::kConstant && of.name == "true";
  std::pair<Way, Way> made = {way_, way_};
  if (always) made.second.reachable = false;
  return made;
}

void Walker::loop(ExprId id) {
  const Expr& of = program_[id];
  Way head = way_;
  while (true) {
    const std::size_t accesses = made_.accesses.size();
    const std::size_t calls = made_.calls.size();
    const std::size_t exits = exits_.size();
    const std::size_t presumed = made_.presumed.size();
    way_ = head;
    loops_.push_back({.sections = sections_.size()});
    const auto [yes, no] = condition(of.children[0]);
    way_ = yes;
    expr(of.children[1]);
    const Loop made = std::move(loops_.back());
    loops_.pop_back();
    Way around = way_;
    for (const Way& next : made.continues) around = meet(around, next);
    around = meet(around, head);
    if (around == head || !head.reachable) {
      way_ = no;
      for (const Way& next : made.breaks) way_ = meet(way_, next);
      return;
    }
    // Less is known at the second round than at the first: what was noted is not so sure.
    head = around;
    made_.accesses.resize(accesses);
    made_.calls.resize(calls);
    exits_.resize(exits);
    made_.presumed.resize(presumed);
  }
}

}  // namespace tomos::infer
