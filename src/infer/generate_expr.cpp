// Expressions: accesses, calls, objects, variables.
#include <fmt/format.h>

#include <utility>

#include "core/printer.h"
#include "infer/generate.h"

namespace tomos::infer {

using core::Expr;
using core::Guard;
using core::Method;

namespace {

const Type kInt = {.name = "int"};
const Type kVoid = {.name = "void"};

}  // namespace

Generator::Value Generator::expr(ExprId id, Steps& out) {
  if (failed()) return {};
  const Expr& of = program_[id];
  switch (of.kind) {
    case Expr::Kind::kVariable:
      return variable(id, out);
    case Expr::Kind::kConstant:
      out.push_back(basic(Basic::kConst, id));
      return {.type = kInt};
    case Expr::Kind::kNull:
      out.push_back(basic(Basic::kConst, id));
      return {};
    case Expr::Kind::kNew:
      return new_object(id, out);
    case Expr::Kind::kField:
      return field(id, out);
    case Expr::Kind::kAssign:
    case Expr::Kind::kUpdate:
      return assign(id, out);
    case Expr::Kind::kCall:
      return call(id, out, false);
    case Expr::Kind::kOperator:
      for (const ExprId child : of.children) expr(child, out);
      return {.type = kInt};
    case Expr::Kind::kLet:
      return let(id, out);
    case Expr::Kind::kSequence:
      return sequence(of.children, 0, out);
    case Expr::Kind::kIf:
      conditional(id, {}, 0, out);
      return {};
    case Expr::Kind::kWhile:
      loop(id, out);
      return {.type = kVoid};
    case Expr::Kind::kSync:
      return synchronised(id, out);
    case Expr::Kind::kLock:
    case Expr::Kind::kTryLock:
      lock(id, target(of.children[0]), out);
      if (of.kind == Expr::Kind::kTryLock && !failed()) {
        // Whoever looks at the result knows more, but not from here.
        set_count(target(of.children[0]).lock, kMaybe);
      }
      return {.type = of.kind == Expr::Kind::kLock ? kVoid : kInt};
    case Expr::Kind::kUnlock:
      unlock(id, target(of.children[0]), out);
      return {.type = kVoid};
    case Expr::Kind::kWait: {
      const Target on = target(of.children[0]);
      const Atomicity wait = conditionals_.choice({.lock = on.lock}, constant(Basic::kCompound),
                                                  constant(Basic::kError));
      step(id, constraints_.add({.expr = id, .atomicity = wait}), out);
      return {.type = kVoid};
    }
    case Expr::Kind::kAtomic: {
      Steps inner;
      const Value value = expr(of.children[0], inner);
      out.push_back(constraints_.add({.kind = Node::Kind::kTransaction,
                                      .expr = id,
                                      .children = {group(inner, of.children[0])}}));
      return value;
    }
    case Expr::Kind::kExpect: {
      Steps inner;
      const Value value = expr(of.children[0], inner);
      const NodeId node = group(inner, id);
      out.push_back(node);
      // The claim is about this place: with the locks of the blocks around it.
      std::vector<std::pair<LockId, bool>> around;
      around.reserve(sections_.size());
      for (const LockId section : sections_) around.emplace_back(section, true);
      const NodeId here = constraints_.add(
          {.kind = Node::Kind::kAssume, .expr = id, .children = {node}, .facts = around});
      if (silent_ == 0) {
        made_.claims.push_back(
            {.node = here, .expr = id, .method = current_, .bound = from_term(of.expected)});
      }
      return value;
    }
    case Expr::Kind::kFork:
      return call(of.children[0], out, true);
    case Expr::Kind::kNoWarn: {
      Steps inner;
      ++silent_;
      const Value value = expr(of.children[0], inner);
      --silent_;
      out.push_back(basic(Basic::kConst, id));
      return value;
    }
    case Expr::Kind::kReturn: {
      Value value = {.type = kVoid};
      for (const ExprId child : of.children) value = expr(child, out);
      if (state_.reachable) leave(id);
      state_.reachable = false;
      return value;
    }
    case Expr::Kind::kBreak:
    case Expr::Kind::kContinue: {
      if (loops_.empty()) {
        fail(of.position, "there is no loop around this", "Leave it out, or write return.");
        return {};
      }
      Loop& around = loops_.back();
      if (state_.reachable) {
        (of.kind == Expr::Kind::kBreak ? around.breaks : around.continues).push_back(state_);
      }
      state_.reachable = false;
      return {};
    }
  }
  return {};
}

Generator::Value Generator::variable(ExprId id, Steps& out) {
  const Expr& of = program_[id];
  if (const Type* type = classes_.lookup(env_, of.name)) {
    if (type->name == "ghost") {
      fail(of.position, fmt::format("{} is a ghost parameter and has no value", of.name),
           "Use it as a lock in types and calls, between < and >.");
    }
    out.push_back(basic(Basic::kConst, id));
    const auto alias = aliases_.find(of.name);
    return {.type = *type,
            .path = alias != aliases_.end() ? alias->second : locks_.variable(of.name)};
  }
  const core::Field* shared = classes_.global(of.name);
  if (shared == nullptr) {
    fail(of.position, fmt::format("there is no variable {}", of.name),
         "Declare it as a parameter, with let, or as a global; fields need their object: this.f.");
    return {};
  }
  const Atomicity read = access(of, shared->guard, {}, Expr::Kind::kField);
  step(id, well_formed(id, constraints_.add({.expr = id, .atomicity = read})), out);
  return {.type = shared->type, .path = locks_.variable(of.name)};
}

// The rules [EXP REF] and [EXP ASSIGN]. What has no guard yet is treated as unguarded.
Atomicity Generator::access(const Expr& of, const Guard& guard, const Substitution& theta,
                            Expr::Kind kind) {
  if (of.excused == Expr::Excused::kUnshared) return constant(Basic::kMover);
  if (of.excused == Expr::Excused::kReported) return access({}, {}, {}, kind);
  const bool writes = kind != Expr::Kind::kField;
  const Predicate held = {.lock = substitute(locks_, theta, guard.lock)};
  const bool is_always_held = classes_.is_role(env_, held.lock);
  const auto when_held = [&](Basic yes, Basic no) {
    if (is_always_held) return constant(yes);
    return conditionals_.choice(held, constant(yes), constant(no));
  };
  switch (guard.kind) {
    case Guard::Kind::kFinal:
      // The compiler lets nobody write it. Whoever seems to knows less of its class than others do.
      if (writes && senseless_ == Senseless::kUnknown) return access(of, {}, {}, kind);
      return constant(writes ? Basic::kError : Basic::kConst);
    case Guard::Kind::kGuardedBy:
      return when_held(Basic::kMover, Basic::kError);
    case Guard::Kind::kWriteGuardedBy:
      return writes ? when_held(Basic::kAtomic, Basic::kError)
                    : when_held(Basic::kMover, Basic::kAtomic);
    case Guard::Kind::kUnset:
      if (unknown_ == Unknown::kHarmless) return constant(Basic::kMover);
      [[fallthrough]];
    case Guard::Kind::kNoGuard:  // an update reads, and then writes
      return constant(kind == Expr::Kind::kUpdate ? Basic::kCompound : Basic::kAtomic);
    case Guard::Kind::kAtomic:
      return constant(Basic::kAtomic);
  }
  return constant(Basic::kError);
}

// The object that is being made or destroyed: nobody else uses it.
bool Generator::is_own(const Value& object) {
  return is_unshared() && object.path == locks_.variable("this");
}

Generator::Value Generator::field(ExprId id, Steps& out) {
  const Expr& of = program_[id];
  const Value object = expr(of.children[0], out);
  if (failed()) return {};
  const auto use = classes_.field(object.type, object.path, of.name);
  if (!use) {
    fail(of.position, fmt::format("{} has no field {}", object.type.name, of.name),
         "Declare the field, or correct the name.");
    return {};
  }
  const Atomicity read = is_own(object) && use->field->guard.kind != Guard::Kind::kFinal
                             ? constant(Basic::kMover)
                             : access(of, use->field->guard, use->theta, Expr::Kind::kField);
  step(id, well_formed(id, constraints_.add({.expr = id, .atomicity = read})), out);
  return {.type = classes_.substitute(use->theta, use->field->type),
          .path = locks_.field(object.path, of.name)};
}

Generator::Value Generator::assign(ExprId id, Steps& out) {
  const Expr& of = program_[id];
  const Expr& left = program_[of.children[0]];
  Guard guard;
  Substitution theta;
  Type type;
  bool own = false;
  if (left.kind == Expr::Kind::kField) {
    const Value object = expr(left.children[0], out);
    if (failed()) return {};
    const auto use = classes_.field(object.type, object.path, left.name);
    if (!use) {
      fail(left.position, fmt::format("{} has no field {}", object.type.name, left.name),
           "Declare the field, or correct the name.");
      return {};
    }
    guard = use->field->guard;
    theta = use->theta;
    type = classes_.substitute(theta, use->field->type);
    own = is_own(object);
  } else {
    const core::Field* shared = classes_.global(left.name);
    if (shared == nullptr || classes_.lookup(env_, left.name) != nullptr) {
      fail(left.position, fmt::format("{} is not something that can change", left.name),
           "Assign to a field or a global; variables of methods keep their value.");
      return {};
    }
    guard = shared->guard;
    type = shared->type;
  }
  const Value value = expr(of.children[1], out);
  check_argument(of.children[1], value, type);
  const Atomicity write = own ? constant(Basic::kMover) : access(of, guard, theta, of.kind);
  step(id, well_formed(id, constraints_.add({.expr = id, .atomicity = write})), out);
  return {.type = type, .path = value.path};
}

void Generator::check_type(const Type& type, const core::Position& position) {
  if (failed()) return;
  if (auto fits = classes_.check(type, position); !fits) {
    error_ = fits.error();
    return;
  }
  for (const LockId lock : type.locks) {
    if (lock != Locks::kUnknown && classes_.type_of(env_, lock) == nullptr) {
      fail(position, fmt::format("{} is no lock that stays the same here", show(lock)),
           "Use a variable in scope, followed by final fields.");
    }
  }
}

void Generator::check_argument(ExprId argument, const Value& value, const Type& wanted) {
  if (failed() || value.type.name.empty() || wanted.name.empty()) return;
  // Whether a value fits has been seen to by the compiler, except for what it knows nothing of.
  const bool names_locks = !value.type.locks.empty() || !wanted.locks.empty();
  if (senseless_ == Senseless::kUnknown && !names_locks) return;
  if (classes_.is_subtype(value.type, value.path, wanted)) return;
  problem(argument, Kind::kRace,
          fmt::format("this is a {}, where a {} is wanted", core::to_text(locks_, value.type),
                      core::to_text(locks_, wanted)),
          "Let both name the same locks.");
}

void Generator::locks_for(ExprId call, const std::vector<std::string>& ghosts,
                          const std::vector<LockId>& given, Substitution& theta) {
  const core::Position& position = program_[call].position;
  if (ghosts.size() != given.size()) {
    fail(position,
         fmt::format("{} locks are wanted here, and {} given", ghosts.size(), given.size()),
         "Give one lock for each ghost parameter, between < and >.");
    return;
  }
  for (std::size_t i = 0; i < ghosts.size(); ++i) {
    if (given[i] != Locks::kUnknown && given[i] != Locks::kThread &&
        classes_.type_of(env_, given[i]) == nullptr) {
      fail(position, fmt::format("{} is no lock that stays the same here", show(given[i])),
           "Use a variable in scope, followed by final fields.");
    }
    theta.pairs.emplace_back(ghosts[i], given[i]);
  }
}

void Generator::arguments(ExprId call, std::size_t first, const Method& method, Substitution& theta,
                          Steps& out) {
  const Expr& of = program_[call];
  if (of.children.size() - first != method.parameters.size()) {
    fail(of.position,
         fmt::format("{} takes {} arguments, here are {}", method.name, method.parameters.size(),
                     of.children.size() - first),
         "Give one argument for each parameter.");
    return;
  }
  std::vector<Value> values;
  for (std::size_t i = first; i < of.children.size(); ++i) {
    values.push_back(expr(of.children[i], out));
    const core::Parameter& parameter = method.parameters[i - first];
    if (!Classes::is_value(parameter.type)) {
      theta.pairs.emplace_back(parameter.name, values.back().path);
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    check_argument(of.children[first + i], values[i],
                   classes_.substitute(theta, method.parameters[i].type));
  }
}

// A call without the locks that it requires, as if they were held: what the callee calls them, for
// here there may be no name, and what they are called here, for the callee may know another.
NodeId Generator::called(ExprId call, MethodId callee, const Substitution& theta) {
  const bool is_excused = program_[call].excused != Expr::Excused::kNo;
  std::vector<std::pair<LockId, bool>> inside;
  std::vector<std::pair<LockId, bool>> here;
  if (is_excused) {
    for (const LockId lock : classes_[callee].method->requires_held) {
      inside.emplace_back(lock, true);
      here.emplace_back(substitute(locks_, theta, lock), true);
    }
  }
  const auto assume = [&](NodeId inner, std::vector<std::pair<LockId, bool>> facts) {
    if (!is_excused) return inner;
    return constraints_.add({.kind = Node::Kind::kAssume,
                             .expr = call,
                             .children = {inner},
                             .facts = std::move(facts)});
  };
  const NodeId unknown = assume(
      constraints_.add({.kind = Node::Kind::kVariable, .expr = call, .method = callee}), inside);
  const bool has_name =
      std::ranges::none_of(here, [](const auto& fact) { return fact.first == Locks::kUnknown; });
  const NodeId made = assume(
      constraints_.add(
          {.kind = Node::Kind::kSubstitute, .expr = call, .children = {unknown}, .theta = theta}),
      here);
  if (has_name || unknown_ == Unknown::kHarmless) return made;
  // Perhaps it is another object's lock that is held: nothing is proved by it.
  return constraints_.add(
      {.kind = Node::Kind::kJoin, .expr = call, .children = {made, basic(Basic::kCompound, call)}});
}

void Generator::invoke(ExprId call, MethodId callee, const Substitution& theta, Steps& out,
                       bool forked) {
  const Method& method = *classes_[callee].method;
  const NodeId here = called(call, callee, theta);
  if (forked) {
    made_.forks.push_back({.node = here, .expr = call, .method = current_});
    made_.forked.push_back(callee);
    out.push_back(basic(unknown_ == Unknown::kShared ? Basic::kAtomic : Basic::kMover, call));
    return;
  }
  step(call, well_formed(call, here), out);
  for (const LockId lock : method.acquires) {
    const LockId taken = substitute(locks_, theta, lock);
    passed_on_[taken].insert(callee);
    if (count(taken) != kMaybe) set_count(taken, count(taken) + 1);
  }
  for (const LockId lock : method.releases) {
    const LockId left = substitute(locks_, theta, lock);
    passed_on_[left].insert(callee);
    if (count(left) >= 0) set_count(left, count(left) - 1);
  }
}

Generator::Value Generator::call(ExprId id, Steps& out, bool forked) {
  const Expr& of = program_[id];
  MethodUse use;
  if (of.children[0] == core::kNoExpr) {
    const auto function = classes_.function(of.name);
    if (!function) {
      fail(of.position, fmt::format("there is no function {}", of.name),
           "Declare it; methods need their object: this.m(), static ones their class: C::m().");
      return {};
    }
    use.method = *function;
  } else {
    const Value object = expr(of.children[0], out);
    if (failed()) return {};
    const auto found = classes_.method(object.type, object.path, of.name);
    if (!found) {
      fail(of.position, fmt::format("{} has no method {}", object.type.name, of.name),
           "Declare the method, or correct the name.");
      return {};
    }
    use = *found;
  }
  const Method& method = *classes_[use.method].method;
  locks_for(id, method.ghosts, of.locks, use.theta);
  arguments(id, 1, method, use.theta, out);
  if (failed()) return {};
  invoke(id, use.method, use.theta, out, forked);
  return {.type = classes_.substitute(use.theta, method.result)};
}

// [EXP NEW], or a call of the constructor where there is one. Nobody else knows the object yet.
Generator::Value Generator::new_object(ExprId id, Steps& out) {
  const Expr& of = program_[id];
  Type type = of.type;
  const auto constructor = classes_.constructor(type.name);
  std::vector<LockId> for_constructor;
  const core::Class* made = classes_.find(type.name);
  if (constructor && made != nullptr && type.locks.size() >= made->ghosts.size()) {
    const auto first = type.locks.begin() + static_cast<std::ptrdiff_t>(made->ghosts.size());
    for_constructor.assign(first, type.locks.end());
    type.locks.erase(first, type.locks.end());
  }
  check_type(type, of.position);
  if (failed()) return {};
  if (constructor) {
    const Method& method = *classes_[*constructor].method;
    Substitution theta = classes_.theta(type, Locks::kUnknown);
    locks_for(id, method.ghosts, for_constructor, theta);
    arguments(id, 0, method, theta, out);
    if (!failed()) invoke(id, *constructor, theta, out, false);
    return {.type = type};
  }
  const std::vector<FieldUse> fields = classes_.all_fields(type, Locks::kUnknown);
  if (!of.children.empty() && of.children.size() != fields.size()) {
    fail(of.position,
         fmt::format("{} has {} fields, here are {} values", type.name, fields.size(),
                     of.children.size()),
         "Give each field a value in the order of the class, bases first, or give none.");
    return {};
  }
  for (std::size_t i = 0; i < of.children.size(); ++i) {
    const Value value = expr(of.children[i], out);
    check_argument(of.children[i], value,
                   classes_.substitute(fields[i].theta, fields[i].field->type));
  }
  if (of.children.empty()) out.push_back(basic(Basic::kConst, id));
  return {.type = type};
}

// [EXP LET]. A variable for a lock that stays the same is that lock under another name. The
// variable is in scope in its own initial value, as a lock, so that a wrapper can guard what it
// wraps (section 6.4).
Generator::Value Generator::let(ExprId id, Steps& out) {
  const Expr& of = program_[id];
  const EnvId outside = env_;
  if (!of.type.name.empty()) env_ = bind(env_, of.name, of.type, of.position);
  const Value value = expr(of.children[0], out);
  env_ = outside;
  if (!of.type.name.empty()) {
    check_type(of.type, of.position);
    check_argument(of.children[0], value, of.type);
  }
  if (failed()) return {};
  Type type = of.type.name.empty() ? value.type : of.type;
  if (type.name.empty()) type = kInt;
  const bool alias = value.path != Locks::kUnknown && classes_.type_of(env_, value.path) != nullptr;
  if (alias) aliases_[of.name] = value.path;
  env_ = bind(env_, of.name, type, of.position);
  Steps inner;
  Value result = expr(of.children[1], inner);
  env_ = outside;
  aliases_.erase(of.name);
  if (inner.empty()) inner.push_back(basic(Basic::kConst, of.children[1]));
  const Substitution theta = {.pairs = {{of.name, value.path}}};
  const NodeId body = constraints_.add({.kind = Node::Kind::kSubstitute,
                                        .expr = id,
                                        .children = {group(inner, of.children[1])},
                                        .theta = theta});
  out.push_back(well_formed(id, body));
  // What was locked by this name is known by its value from here on, if that can be said.
  const std::map<LockId, int> counts = std::exchange(state_.counts, {});
  for (const auto& [lock, times] : counts) {
    const LockId outer = substitute(locks_, theta, lock);
    if (outer != Locks::kUnknown) state_.counts[outer] = times;
  }
  result.type = classes_.substitute(theta, result.type);
  result.path = substitute(locks_, theta, result.path);
  return result;
}

}  // namespace tomos::infer
