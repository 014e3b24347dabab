#include "infer/lock_parameters.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "infer/classes.h"
#include "infer/flow.h"
#include "infer/flow_calls.h"

namespace tomos::infer {

using core::Expr;
using core::ExprId;
using core::Method;
using core::Parameter;

namespace {

bool is_lock(const Parameter& of) {
  return of.type.name == "mutex" || of.type.name == "recursive_mutex";
}

// What is passed for a parameter at the calls that were looked at.
struct Passed {
  std::optional<LockId> lock;  // none: no call has said
  bool is_one = true;

  friend bool operator==(const Passed&, const Passed&) = default;
};

class LockParameters {
 public:
  explicit LockParameters(core::Program& program)
      : program_(program), locks_(program.locks), classes_(program, locks_) {
    for (std::size_t i = 0; i < classes_.method_count(); ++i) {
      const std::vector<Parameter>& of = classes_[static_cast<MethodId>(i)].method->parameters;
      any_ |= std::ranges::any_of(of, is_lock);
    }
  }

  void run() {
    if (!any_ || !classes_.check()) return;
    const Flow flow = flow_of(program_, locks_, classes_);
    join_overrides();
    for (bool changed = true; changed;) {
      changed = false;
      for (const CallSite& site : flow.calls) changed |= look(site);
    }
    for (const auto& [key, passed] : passed_) {
      if (!passed.is_one || !passed.lock) continue;
      for (std::size_t i = 0; i < classes_.method_count(); ++i) {
        const auto id = static_cast<MethodId>(i);
        if (first_of(id) == key.first) settle(flow, id, key.second, *passed.lock);
      }
    }
    for (const auto& [method, name, lock] : settled_) replace(method, name, lock);
  }

 private:
  using Key = std::pair<MethodId, std::size_t>;  // the first of all that override each other
  struct Settled {
    MethodId method = {};
    std::string name;
    LockId lock = {};
  };

  void join_overrides() {
    first_.resize(classes_.method_count());
    std::iota(first_.begin(), first_.end(), std::size_t{0});
    for (const auto& [own, above] : find_overridden(classes_, locks_)) {
      for (const MethodId one : above) {
        const auto [low, high] = std::minmax({first_of(own), first_of(one)});
        first_[static_cast<std::size_t>(high)] = static_cast<std::size_t>(low);
      }
    }
  }

  MethodId first_of(MethodId of) const {
    auto at = static_cast<std::size_t>(of);
    while (first_[at] != at) at = first_[at];
    return static_cast<MethodId>(at);
  }

  // Whether that has changed what is known.
  bool look(const CallSite& site) {
    bool changed = false;
    const std::vector<Parameter>& parameters = classes_[site.callee].method->parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (!is_lock(parameters[i])) continue;
      Passed& known = passed_[{first_of(site.callee), i}];
      if (!known.is_one) continue;
      const LockId given = site.theta.find(parameters[i].name).value_or(Locks::kUnknown);
      const Passed here = seen_by_caller(site.caller, given);
      if (here.is_one && !here.lock) continue;
      const auto lock = here.is_one ? seen_by_callee(site, *here.lock) : std::nullopt;
      const Passed before = known;
      known.is_one = lock && (!known.lock || known.lock == lock);
      if (known.is_one) known.lock = lock;
      changed |= known != before;
    }
    return changed;
  }

  Passed seen_by_caller(MethodId caller, LockId lock) {
    if (lock == Locks::kUnknown || caller == kMain) return {.lock = lock};
    const std::vector<Parameter>& own = classes_[caller].method->parameters;
    const std::string& name = locks_[lock].name;
    if (locks_[lock].kind != core::Lock::Kind::kVariable) return {.lock = lock};
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (own[i].name == name && is_lock(own[i])) return passed_[{first_of(caller), i}];
    }
    return {.lock = lock};
  }

  std::optional<LockId> seen_by_callee(const CallSite& site, LockId lock) {
    const core::Lock& root = locks_[locks_.root(lock).first];
    if (root.kind != core::Lock::Kind::kVariable) return std::nullopt;
    if (const auto own = from(site, "this", lock)) return own;
    for (const Parameter& one : classes_[site.callee].method->parameters) {
      if (is_lock(one)) continue;
      if (const auto through = from(site, one.name, lock)) return through;
    }
    const bool is_global = root.name != "this" && classes_.global(root.name) != nullptr;
    return is_global ? std::optional(lock) : std::nullopt;
  }

  // The lock by the name that the callee has for some object on the way to it.
  std::optional<LockId> from(const CallSite& site, const std::string& name, LockId lock) {
    const auto object = site.theta.find(name);
    std::vector<std::string> fields;
    LockId at = lock;
    while (object && at != *object && locks_[at].kind == core::Lock::Kind::kField) {
      fields.push_back(locks_[at].name);
      at = locks_[at].base;
    }
    if (!object || at != *object || fields.empty() || at == Locks::kUnknown) return std::nullopt;
    LockId made = locks_.variable(name);
    while (!fields.empty()) {
      made = locks_.field(made, fields.back());
      fields.pop_back();
    }
    return made;
  }

  void settle(const Flow& flow, MethodId id, std::size_t index, LockId lock) {
    const MethodOf& of = classes_[id];
    if (index >= of.method->parameters.size()) return;
    const Parameter& parameter = of.method->parameters[index];
    const core::Lock& root = locks_[locks_.root(lock).first];
    std::optional<Type> type;
    if (root.name == "this") {
      if (of.owner != nullptr && of.method->kind != Method::Kind::kStatic) {
        type = classes_.self_type(*of.owner);
      }
    } else if (const core::Field* global = classes_.global(root.name)) {
      type = global->type;
    } else {
      const auto given = std::ranges::find(of.method->parameters, root.name, &Parameter::name);
      if (given != of.method->parameters.end()) type = given->type;
    }
    if (type) type = end_of(flow, *type, lock);
    if (type && type->name == parameter.type.name) {
      settled_.push_back({.method = id, .name = parameter.name, .lock = lock});
    }
  }

  // The type of a lock expression that is always the same lock, if it begins at a type.
  std::optional<Type> end_of(const Flow& flow, const Type& root, LockId lock) {
    const core::Lock of = locks_[lock];
    if (of.kind != core::Lock::Kind::kField) return root;
    const auto above = end_of(flow, root, of.base);
    const auto use = above ? classes_.field(*above, of.base, of.name) : std::nullopt;
    if (!use || flow.wandering.contains(use->field)) return std::nullopt;
    return classes_.substitute(use->theta, use->field->type);
  }

  void replace(MethodId id, const std::string& name, LockId lock) {
    Method& of = mutable_method(program_, id);
    if (of.body != core::kNoExpr) replace(of.body, name, lock);
    const Substitution theta = {.pairs = {{name, lock}}};
    for (auto* list : {&of.requires_held, &of.acquires, &of.releases, &of.excludes}) {
      for (LockId& one : *list) one = substitute(locks_, theta, one);
    }
  }

  void replace(ExprId id, const std::string& name, LockId lock) {
    const Expr of = program_[id];
    if (of.kind == Expr::Kind::kVariable && of.name == name) {
      program_.exprs[static_cast<std::size_t>(id)] = expression(lock, of.position);
      return;
    }
    const bool hides = of.kind == Expr::Kind::kLet && of.name == name;
    for (std::size_t i = 0; i < of.children.size(); ++i) {
      const ExprId child = of.children[i];
      if (child != core::kNoExpr && !(hides && i > 0)) replace(child, name, lock);
    }
  }

  Expr expression(LockId lock, const core::Position& at) {
    const core::Lock of = locks_[lock];
    if (of.kind != core::Lock::Kind::kField) {
      return {.kind = Expr::Kind::kVariable, .position = at, .name = of.name};
    }
    const ExprId base = program_.add(expression(of.base, at));
    return {.kind = Expr::Kind::kField, .position = at, .name = of.name, .children = {base}};
  }

  core::Program& program_;
  Locks& locks_;
  Classes classes_;
  bool any_ = false;
  std::vector<std::size_t> first_;
  std::map<Key, Passed> passed_;
  std::vector<Settled> settled_;
};

}  // namespace

void settle_lock_parameters(core::Program& program) { LockParameters(program).run(); }

}  // namespace tomos::infer
