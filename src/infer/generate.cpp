// Declarations: what is unknown, what is declared, and what an override owes to the method it
// overrides.
#include "infer/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <expected>
#include <utility>

#include "core/printer.h"

namespace tomos::infer {

using core::Class;
using core::Method;

Generator::Generator(const core::Program& program, Locks& locks, Classes& classes,
                     Conditionals& conditionals, Constraints& constraints, Unknown unknown,
                     Senseless senseless)
    : program_(program),
      locks_(locks),
      classes_(classes),
      conditionals_(conditionals),
      constraints_(constraints),
      unknown_(unknown),
      senseless_(senseless) {
  made_.bodies.resize(classes.method_count());
}

Result<Generated> Generator::run() {
  for (std::size_t i = 0; i < classes_.method_count(); ++i) declare(static_cast<MethodId>(i));
  for (std::size_t i = 0; i < classes_.method_count(); ++i) method(static_cast<MethodId>(i));
  current_ = kMain;
  for (const Class& of : program_.classes) overrides(of);
  main_block();
  if (error_) return std::unexpected(std::move(*error_));
  return std::move(made_);
}

void Generator::fail(const core::Position& position, std::string what, std::string remedy) {
  if (failed() || (senseless_ == Senseless::kUnknown && current_ == kMain)) return;
  error_ = Error{.where = core::to_string(program_, position),
                 .what = std::move(what),
                 .remedy = std::move(remedy)};
}

void Generator::problem(ExprId where, Kind kind, std::string message, std::string fix,
                        LockId about) {
  if (silent_ > 0) return;
  Problem made = {.method = current_,
                  .expr = where,
                  .kind = kind,
                  .message = std::move(message),
                  .fix = std::move(fix)};
  if (const auto calls = passed_on_.find(about); calls != passed_on_.end()) {
    made.through = {calls->second.begin(), calls->second.end()};
  }
  if (std::ranges::find(made_.problems, made) == made_.problems.end()) {
    made_.problems.push_back(std::move(made));
  }
}

Atomicity Generator::from_term(core::TermId id) const {
  const core::Term& term = program_[id];
  if (!term.predicate) return constant(term.basic);
  return conditionals_.choice(*term.predicate, from_term(term.then), from_term(term.otherwise));
}

// What is required is required of every caller, whatever else was declared.
void Generator::declare(MethodId id) {
  const Method& of = *classes_[id].method;
  if (!of.atomicity) return;
  const bool harmless = of.is_unknown && unknown_ == Unknown::kHarmless;
  Atomicity declared = harmless ? constant(Basic::kMover) : from_term(*of.atomicity);
  for (const auto* locks : {&of.requires_held, &of.releases}) {
    for (const LockId lock : *locks) {
      declared = conditionals_.choice({.lock = lock}, declared, constant(Basic::kError));
    }
  }
  constraints_.declare(id, declared);
}

EnvId Generator::bind(EnvId env, const std::string& name, Type type,
                      const core::Position& position) {
  if (classes_.lookup(env, name) != nullptr || classes_.global(name) != nullptr) {
    fail(position, fmt::format("{} is declared already", name),
         "Give one of them another name: names do not hide each other.");
  }
  return classes_.bind(env, name, std::move(type));
}

EnvId Generator::method_env(const MethodOf& of) {
  EnvId env = kEmptyEnv;
  const Type ghost = {.name = "ghost"};
  const core::Position& at = of.method->position;
  if (of.owner != nullptr && of.method->kind != Method::Kind::kStatic) {
    for (const std::string& name : of.owner->ghosts) env = bind(env, name, ghost, at);
    env = bind(env, "this", classes_.self_type(*of.owner), at);
  }
  for (const std::string& name : of.method->ghosts) env = bind(env, name, ghost, at);
  for (const core::Parameter& parameter : of.method->parameters) {
    env = bind(env, parameter.name, parameter.type, parameter.position);
  }
  return env;
}

void Generator::method(MethodId id) {
  const MethodOf& of = classes_[id];
  method_ = of.method;
  current_ = id;
  env_ = method_env(of);
  for (const core::Parameter& parameter : method_->parameters) {
    check_type(parameter.type, parameter.position);
  }
  if (failed() && senseless_ == Senseless::kUnknown) {
    leave_out(id);
    return;
  }
  if (method_->body == core::kNoExpr || method_->no_warn || failed()) return;
  state_ = {};
  aliases_.clear();
  passed_on_.clear();
  Steps steps;
  for (const auto* locks : {&method_->requires_held, &method_->releases}) {
    for (const LockId lock : *locks) {
      if (senseless_ == Senseless::kUnknown && classes_.type_of(env_, lock) == nullptr) continue;
      if (classes_.is_role(env_, lock)) continue;
      const Atomicity needed =
          conditionals_.choice({.lock = lock}, constant(Basic::kConst), constant(Basic::kError));
      const NodeId inner = constraints_.add({.kind = Node::Kind::kConstant, .atomicity = needed});
      steps.push_back(well_formed(core::kNoExpr, inner));
    }
  }
  expr(method_->body, steps);
  if (state_.reachable) leave(method_->body);
  if (failed() && senseless_ == Senseless::kUnknown) {
    leave_out(id);
    return;
  }
  const NodeId body = group(steps, method_->body);
  made_.bodies[static_cast<std::size_t>(id)] = body;
  constraints_.add(Constraint{.bound = body, .method = id});
}

void Generator::leave_out(MethodId id) {
  error_.reset();
  loops_.clear();
  sections_.clear();
  silent_ = 0;
  for (auto* parts : {&made_.blocks, &made_.claims, &made_.forks}) {
    std::erase_if(*parts, [&](const Part& part) { return part.method == id; });
  }
  std::erase_if(made_.problems, [&](const Problem& problem) { return problem.method == id; });
  made_.left_out.push_back(id);
  const bool harmless = unknown_ == Unknown::kHarmless;
  constraints_.add(Constraint{
      .bound = basic(harmless ? Basic::kMover : Basic::kCompound, method_->body), .method = id});
}

void Generator::main_block() {
  if (program_.main == core::kNoExpr || failed()) return;
  method_ = nullptr;
  current_ = kMain;
  env_ = classes_.bind(kEmptyEnv, "tll", {.name = "ghost"});
  state_ = {};
  state_.counts[Locks::kThread] = 1;
  aliases_.clear();
  passed_on_.clear();
  Steps steps;
  expr(program_.main, steps);
  if (state_.reachable) leave(program_.main);
  made_.main = group(steps, program_.main);
}

// Section 6.2. Fields too: their guards are locks of the class they are in.
void Generator::overrides(const Class& of) {
  if (failed()) return;
  const LockId self = locks_.variable("this");
  std::vector<Type> above = classes_.bases(classes_.self_type(of), self);
  for (std::size_t i = 1; i < of.bases.size(); ++i) {
    if (classes_.protector(above[i], self) != classes_.protector(above[0], self)) {
      fail(of.position, fmt::format("{} has two protecting locks", of.name),
           "Let all its bases extend Object with the same lock.");
    }
  }
  for (std::size_t i = 0; i < above.size(); ++i) {
    const Type base = above[i];
    for (Type& next : classes_.bases(base, self)) above.push_back(std::move(next));
    const Class* owner = classes_.find(base.name);
    if (owner == nullptr) continue;
    for (const Method& overridden : owner->methods) {
      if (overridden.kind == Method::Kind::kMethod) override_of(of, base, overridden);
    }
  }
}

void Generator::override_of(const Class& of, const Type& base, const Method& overridden) {
  const LockId self = locks_.variable("this");
  const auto use = classes_.method(classes_.self_type(of), self, overridden.name);
  if (!use) return;
  const MethodOf& mine = classes_[use->method];
  if (mine.method == &overridden) return;
  // An inherited method was compared where it was declared, unless what it overrides came in here.
  if (mine.owner != &of && overridden.body != core::kNoExpr) return;
  const Method& own = *mine.method;
  if (own.ghosts.size() != overridden.ghosts.size() ||
      own.parameters.size() != overridden.parameters.size()) {
    fail(own.position,
         fmt::format("{} does not have the parameters of what it overrides", own.name),
         "Give it the same parameters, or another name.");
    return;
  }
  Substitution here = use->theta;
  for (std::size_t i = 0; i < own.ghosts.size(); ++i) {
    here.pairs.emplace_back(own.ghosts[i], locks_.ghost(overridden.ghosts[i]));
  }
  for (std::size_t i = 0; i < own.parameters.size(); ++i) {
    here.pairs.emplace_back(own.parameters[i].name, locks_.variable(overridden.parameters[i].name));
  }
  Substitution above = classes_.theta(base, self);
  above.pairs.erase(above.pairs.begin());  // this is this
  const auto target =
      classes_.method({.name = base.name, .locks = base.locks}, self, overridden.name);
  if (!target) return;
  const MethodOf& owner = classes_[target->method];
  Node node = {.kind = Node::Kind::kVariable, .expr = own.body, .method = use->method};
  node = {.kind = Node::Kind::kSubstitute,
          .expr = own.body,
          .children = {constraints_.add(std::move(node))},
          .theta = std::move(here)};
  node = {.kind = Node::Kind::kInverse,
          .expr = own.body,
          .children = {constraints_.add(std::move(node))},
          .theta = std::move(above),
          .hidden = of.ghosts};
  env_ = method_env(owner);
  const NodeId bound = well_formed(own.body, constraints_.add(std::move(node)));
  constraints_.add(Constraint{.bound = bound, .method = target->method});
}

NodeId Generator::basic(Basic value, ExprId expr) {
  return constraints_.add(
      {.kind = Node::Kind::kConstant, .expr = expr, .atomicity = constant(value)});
}

NodeId Generator::well_formed(ExprId expr, NodeId inner) {
  return constraints_.add(
      {.kind = Node::Kind::kWellFormed, .expr = expr, .children = {inner}, .env = env_});
}

NodeId Generator::group(const Steps& steps, ExprId expr) {
  if (steps.size() == 1) return steps[0];
  return constraints_.add({.kind = Node::Kind::kSequence, .expr = expr, .children = steps});
}

bool Generator::is_unshared() const {
  return method_ != nullptr && (method_->kind == Method::Kind::kConstructor ||
                                method_->kind == Method::Kind::kDestructor);
}

// A step as it is here: with what is known of locks, and of an object that is not shared yet.
void Generator::step(ExprId expr, NodeId inner, Steps& out, std::optional<LockId> but_not) {
  std::vector<std::pair<LockId, bool>> known = facts();
  if (but_not) {
    std::erase_if(known, [&](const auto& fact) { return fact.first == *but_not; });
  }
  if (!known.empty()) {
    inner = constraints_.add({.kind = Node::Kind::kAssume,
                              .expr = expr,
                              .children = {inner},
                              .facts = std::move(known)});
  }
  if (is_unshared()) {
    inner = constraints_.add({.kind = Node::Kind::kUnshared, .expr = expr, .children = {inner}});
  }
  out.push_back(inner);
}

}  // namespace tomos::infer
