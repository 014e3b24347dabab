#include "infer/ghost_typing.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "infer/unify.h"

namespace tomos::infer {

using core::Class;
using core::Expr;
using core::Field;
using core::Guard;
using core::Method;

namespace {

constexpr int kMostTypingRounds = 12;

using GhostSignature = GhostTypes::Signature;
using LockNode = Unifier::Node;

class Typing {
 public:
  Typing(const core::Program& program, Locks& locks, Classes& classes, const Flow& flow,
         const Families& families, Nulls nulls, FreeNames& names, GhostTypes& made)
      : program_(program),
        locks_(locks),
        classes_(classes),
        flow_(flow),
        families_(families),
        nulls_(nulls),
        names_(names),
        made_(made) {
    find_groups();
    signatures_.resize(classes.method_count());
    for (std::size_t i = 0; i < signatures_.size(); ++i) begin_signature(i);
  }

  // The families that do not work out; none: `made` is complete.
  std::set<std::string> run() {
    int round = 0;
    for (bool more = true; more && failed_.empty();) {
      more = false;
      made_.exprs.clear();
      for (std::size_t i = 0; i < classes_.method_count(); ++i) {
        more |= method(static_cast<MethodId>(i));
      }
      if (++round > kMostTypingRounds) {
        for (const auto& [family, use] : made_.families) failed_.insert(family);
      }
    }
    main_block();
    made_.methods.clear();
    for (std::size_t i = 0; i < signatures_.size(); ++i) {
      made_.methods.push_back(signatures_[group_[i]]);
    }
    return std::move(failed_);
  }

 private:
  struct Value {
    std::string type;  // empty: nothing, or anything
    LockId path = Locks::kUnknown;
    std::optional<LockNode> lock;  // for the ghost parameter of its class
    int made_in = -1;              // a new object, in how many loops; only here it is known
    bool is_part = false;          // of the object that it is a field of
  };

  // --- Methods ---

  void find_groups() {
    group_.resize(classes_.method_count());
    for (std::size_t i = 0; i < group_.size(); ++i) group_[i] = i;
    for (std::size_t i = 0; i < group_.size(); ++i) {
      const MethodOf& of = classes_[static_cast<MethodId>(i)];
      if (of.owner == nullptr || of.method->kind != Method::Kind::kMethod) continue;
      for (const Type& base : of.owner->bases) {
        const auto above = classes_.method(base, Locks::kUnknown, of.method->name);
        if (above) join(i, static_cast<std::size_t>(above->method));
      }
    }
    group_sizes_.resize(group_.size());
    for (const std::size_t group : group_) ++group_sizes_[group];
  }

  void join(std::size_t a, std::size_t b) {
    const std::size_t from = group_[a];
    const std::size_t to = group_[b];
    std::ranges::replace(group_, from, to);
  }

  bool is_ghosted(const std::string& type) const {
    return !type.empty() && made_.families.contains(families_.of(type));
  }

  static std::vector<const Type*> types_of(const Method& method) {
    std::vector<const Type*> types;
    types.reserve(method.parameters.size() + 1);
    for (const core::Parameter& parameter : method.parameters) types.push_back(&parameter.type);
    types.push_back(&method.result);
    return types;
  }

  void begin_signature(std::size_t index) {
    GhostSignature made;
    const auto types = types_of(*classes_[static_cast<MethodId>(index)].method);
    for (const Type* type : types) {
      made.places.emplace_back();
      if (made_.exempt.contains(type->name)) {
        made.places.back().lock = Locks::kAlways;
      } else if (is_ghosted(type->name)) {
        made.places.back().ghost = made.ghosts++;
      }
    }
    // In its words, what the others call their parameter would be `always`.
    const Class* owner = classes_[static_cast<MethodId>(index)].owner;
    const bool is_exempt = owner != nullptr && made_.exempt.contains(owner->name);
    if (is_exempt && group_sizes_[group_[index]] > 1 && made.ghosts > 0) {
      uneven_.insert(group_[index]);
    }
    GhostSignature& to = signatures_[group_[index]];
    if (to.places.empty()) {
      to = std::move(made);
    } else if (made != to) {
      uneven_.insert(group_[index]);
    }
  }

  void fail(const std::string& type) {
    if (is_ghosted(type)) failed_.insert(families_.of(type));
  }

  // Whether more is known of its signature now.
  bool method(MethodId id) {
    const auto index = static_cast<std::size_t>(id);
    const MethodOf& of = classes_[id];
    method_ = of.method;
    GhostSignature& signature = signatures_[group_[index]];
    const auto types = types_of(*method_);
    if (uneven_.contains(group_[index])) {
      for (const Type* type : types) fail(type->name);
      return false;
    }
    if (method_->body == core::kNoExpr) {
      // Nobody knows what becomes of an object there.
      if (method_->is_unknown) {
        for (const Type* type : types) fail(type->name);
      }
      return false;
    }
    unifier_ = {};
    variables_.clear();
    occurrences_.clear();
    loops_ = 0;
    if (of.owner != nullptr && method_->kind != Method::Kind::kStatic) {
      variables_["this"] = {.type = of.owner->name, .path = locks_.variable("this"), .lock = {}};
      if (is_ghosted(of.owner->name)) {
        const bool is_exempt = made_.exempt.contains(of.owner->name);
        variables_["this"].lock = unifier_.bound(is_exempt ? Locks::kAlways : made_.ghost);
      }
    }
    std::vector<LockNode> ghosts(signature.ghosts);
    std::ranges::generate(ghosts, [&] { return unifier_.fresh(); });
    std::vector<std::optional<LockNode>> places;
    for (const GhostSignature::Place& place : signature.places) {
      places.emplace_back();
      if (place.ghost) places.back() = ghosts[*place.ghost];
      if (place.lock) places.back() = unifier_.bound(*place.lock);
    }
    for (std::size_t i = 0; i < method_->parameters.size(); ++i) {
      const core::Parameter& parameter = method_->parameters[i];
      variables_[parameter.name] = {
          .type = parameter.type.name, .path = locks_.variable(parameter.name), .lock = places[i]};
    }
    result_ = places.back();
    const Value value = expr(method_->body);
    if (value.lock && result_) flow(value, method_->result.name, result_);
    return close(index, places, types);
  }

  void main_block() {
    if (program_.main == core::kNoExpr) return;
    method_ = nullptr;
    result_.reset();
    unifier_ = {};
    variables_.clear();
    occurrences_.clear();
    loops_ = 0;
    expr(program_.main);
    store({});
  }

  // What is known at the end of a method of its parameters and result, and what else is open.
  bool close(std::size_t index, const std::vector<std::optional<LockNode>>& places,
             const std::vector<const Type*>& types) {
    GhostSignature& signature = signatures_[group_[index]];
    GhostSignature made;
    std::map<LockNode, LockId> ghosts;
    for (std::size_t i = 0; i < places.size(); ++i) {
      made.places.emplace_back();
      const std::optional<LockNode> place = places[i];
      if (!place) continue;
      if (const auto lock = unifier_.lock_of(*place)) {
        if (!is_nameable(*lock, index)) fail(types[i]->name);
        made.places.back().lock = lock;
        continue;
      }
      const auto [at, is_new] = ghosts.try_emplace(unifier_.find(*place));
      if (is_new) at->second = ghost_of_methods(made.ghosts++);
      made.places.back().ghost = index_of(at->second);
    }
    store(ghosts);
    const bool is_new = made != signature;
    signature = std::move(made);
    return is_new;
  }

  // What stays open is a ghost parameter, or an object that no other thread ever gets.
  void store(const std::map<LockNode, LockId>& ghosts) {
    for (const Occurrence& one : occurrences_) {
      LockId lock = one.use == GhostUse::kGuards ? Locks::kThread : Locks::kNone;
      if (const auto at = ghosts.find(unifier_.find(one.lock)); at != ghosts.end()) {
        lock = at->second;
      }
      lock = unifier_.lock_of(one.lock).value_or(lock);
      // What is always held guards nothing: only objects that need no guard may have that.
      if (lock == Locks::kAlways) fail(one.made);
      made_.exprs[one.expr].push_back(lock);
    }
  }

  LockId ghost_of_methods(std::size_t index) {
    while (made_.method_ghosts.size() <= index) {
      made_.method_ghosts.push_back(names_.make(nulls_ == Nulls::kNone ? "y" : "lock_of_caller"));
    }
    return locks_.ghost(made_.method_ghosts[index]);
  }

  std::size_t index_of(LockId ghost) const {
    const auto at = std::ranges::find(made_.method_ghosts, locks_[ghost].name);
    return static_cast<std::size_t>(at - made_.method_ghosts.begin());
  }

  // In the words of a method, and of all that override it.
  bool is_nameable(LockId lock, std::size_t index) const {
    const core::Lock& root = locks_[locks_.root(lock).first];
    if (root.kind != core::Lock::Kind::kVariable) return root.kind != core::Lock::Kind::kThread;
    const Method& of = *classes_[static_cast<MethodId>(index)].method;
    if (root.name == "this") return of.kind != Method::Kind::kStatic;
    if (classes_.global(root.name) != nullptr) return true;
    return group_sizes_[group_[index]] == 1 &&
           std::ranges::find(of.parameters, root.name, &core::Parameter::name) !=
               of.parameters.end();
  }

  // --- Expressions ---

  LockNode unknown() { return unifier_.bound(Locks::kUnknown); }

  // A lock for the class of a new object or of a variable.
  LockNode occurs(ExprId expr, const std::string& type) {
    if (made_.exempt.contains(type)) return unifier_.bound(Locks::kAlways);
    const LockNode made = unifier_.fresh();
    occurrences_.push_back(
        {.expr = expr,
         .lock = made,
         .use = made_.families.at(families_.of(type)),
         .made = program_[expr].kind == Expr::Kind::kNew ? type : std::string()});
    return made;
  }

  // A value becomes that of something that has a type.
  void flow(const Value& value, const std::string& type, std::optional<LockNode> to) {
    if (!to || !is_ghosted(type)) {
      const bool lost = value.lock && !type.empty() && !Classes::is_value({.name = type});
      if (lost) fail(value.type);
      return;
    }
    // Whose lock nobody can name: only of a new object, and once.
    const bool elsewhere = unifier_.lock_of(*to) == Locks::kUnknown;
    if (elsewhere && value.lock && value.made_in != loops_) fail(type);
    if (!unifier_.unify(value.lock ? *value.lock : unknown(), *to)) fail(type);
  }

  // A lock in the words of an object's class: here.
  std::optional<LockNode> seen(LockId lock, const Value& object, const Substitution& theta) {
    if (lock == made_.ghost) return object.lock ? *object.lock : unknown();
    return unifier_.bound(substitute(locks_, theta, lock));
  }

  std::optional<LockNode> lock_of_field(const FieldUse& use, const Value& object) {
    const auto at = made_.fields.find(use.field);
    if (at == made_.fields.end()) return std::nullopt;
    return seen(at->second, object, {.pairs = {{"this", object.path}}});
  }

  bool is_final(const Field& field) const {
    return field.guard.kind == Guard::Kind::kFinal ||
           (field.guard.kind == Guard::Kind::kUnset && !flow_.wandering.contains(&field));
  }

  Value expr(ExprId id) {
    const Expr& of = program_[id];
    switch (of.kind) {
      case Expr::Kind::kVariable:
        return variable(of);
      case Expr::Kind::kConstant:
        return {.type = "int"};
      case Expr::Kind::kNull:
        if (nulls_ == Nulls::kUnknown && of.name != core::kGone) return {.lock = unknown()};
        return {.lock = unifier_.fresh(), .made_in = loops_};
      case Expr::Kind::kNew:
        return new_object(id);
      case Expr::Kind::kField: {
        const Value object = expr(of.children[0]);
        const auto use = classes_.field({.name = object.type}, object.path, of.name);
        return use ? field(*use, object) : Value{};
      }
      case Expr::Kind::kAssign:
      case Expr::Kind::kUpdate: {
        const Value to = expr(of.children[0]);
        const Value value = expr(of.children[1]);
        // What is part of another object changes, and is the same object still.
        if (of.kind == Expr::Kind::kAssign || !to.is_part) flow(value, to.type, to.lock);
        return to;
      }
      case Expr::Kind::kCall:
        return call(id, false);
      case Expr::Kind::kFork:
        return call(of.children[0], true);
      case Expr::Kind::kLet:
        return let(id);
      case Expr::Kind::kIf: {
        expr(of.children[0]);
        const Value yes = expr(of.children[1]);
        const Value no = expr(of.children[2]);
        if (yes.lock && no.lock && !unifier_.unify(*yes.lock, *no.lock)) fail(yes.type);
        return {.type = yes.type.empty() ? no.type : yes.type,
                .lock = yes.lock ? yes.lock : no.lock};
      }
      case Expr::Kind::kWhile:
        ++loops_;
        for (const ExprId child : of.children) expr(child);
        --loops_;
        return {};
      case Expr::Kind::kReturn:
        for (const ExprId child : of.children) {
          const Value value = expr(child);
          if (method_ != nullptr) flow(value, method_->result.name, result_);
        }
        return {};
      case Expr::Kind::kSequence:
      case Expr::Kind::kSync:
      case Expr::Kind::kLock:
      case Expr::Kind::kUnlock:
      case Expr::Kind::kTryLock:
      case Expr::Kind::kWait:
      case Expr::Kind::kAtomic:
      case Expr::Kind::kExpect:
      case Expr::Kind::kNoWarn:
      case Expr::Kind::kOperator:
      case Expr::Kind::kBreak:
      case Expr::Kind::kContinue: {
        Value last;
        for (const ExprId child : of.children) last = expr(child);
        const bool has_none = of.kind == Expr::Kind::kOperator || of.kind == Expr::Kind::kLock ||
                              of.kind == Expr::Kind::kTryLock || of.kind == Expr::Kind::kUnlock;
        return has_none ? Value{.type = "int"} : last;
      }
    }
    return {};
  }

  Value variable(const Expr& of) {
    if (const auto known = variables_.find(of.name); known != variables_.end()) {
      return known->second;
    }
    const Field* shared = classes_.global(of.name);
    if (shared == nullptr) return {};
    Value made = {.type = shared->type.name, .is_part = !shared->is_pointer};
    if (is_final(*shared)) made.path = locks_.variable(of.name);
    if (const auto at = made_.fields.find(shared); at != made_.fields.end()) {
      made.lock = unifier_.bound(at->second);
    }
    return made;
  }

  Value field(const FieldUse& use, const Value& object) {
    Value made = {.type = use.field->type.name,
                  .lock = lock_of_field(use, object),
                  .is_part = !use.field->is_pointer};
    if (object.path != Locks::kUnknown && is_final(*use.field) &&
        locks_.root(object.path).second < kMostFields) {
      made.path = locks_.field(object.path, use.field->name);
    }
    return made;
  }

  // What a method's places are at a call, and the locks for its ghost parameters.
  struct Instance {
    std::vector<std::optional<LockNode>> places;
    std::vector<LockNode> ghosts;
  };

  Instance instance(MethodId callee, const Value& object, const std::vector<Value>& arguments,
                    bool forked) {
    const GhostSignature& signature = signatures_[group_[static_cast<std::size_t>(callee)]];
    const Method& method = *classes_[callee].method;
    Substitution theta = {.pairs = {{"this", object.path}}};
    for (std::size_t i = 0; i < method.parameters.size() && i < arguments.size(); ++i) {
      theta.pairs.emplace_back(method.parameters[i].name, arguments[i].path);
    }
    Instance made;
    for (std::size_t i = 0; i < signature.ghosts; ++i) {
      // A new thread holds none of the locks that are held here.
      made.ghosts.push_back(forked ? unknown() : unifier_.fresh());
    }
    for (const GhostSignature::Place& place : signature.places) {
      made.places.emplace_back();
      if (place.ghost) made.places.back() = made.ghosts[*place.ghost];
      if (place.lock) made.places.back() = seen(*place.lock, object, theta);
    }
    return made;
  }

  void note_ghosts(ExprId id, MethodId callee, const Instance& made) {
    const GhostSignature& signature = signatures_[group_[static_cast<std::size_t>(callee)]];
    const auto types = types_of(*classes_[callee].method);
    for (std::size_t i = 0; i < made.ghosts.size(); ++i) {
      GhostUse use = GhostUse::kGuards;
      for (std::size_t j = 0; j < types.size() && j < signature.places.size(); ++j) {
        const auto family = made_.families.find(families_.of(types[j]->name));
        const bool is_this = signature.places[j].ghost == i && family != made_.families.end();
        if (is_this) use = family->second;
      }
      occurrences_.push_back({.expr = id, .lock = made.ghosts[i], .use = use, .made = {}});
    }
  }

  void pass(const std::vector<Value>& arguments, MethodId callee, const Instance& to) {
    const Method& method = *classes_[callee].method;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (i >= method.parameters.size() || i >= to.places.size()) {
        fail(arguments[i].type);
      } else {
        flow(arguments[i], method.parameters[i].type.name, to.places[i]);
      }
    }
  }

  std::vector<Value> values(const Expr& of, std::size_t first) {
    std::vector<Value> made;
    for (std::size_t i = first; i < of.children.size(); ++i) made.push_back(expr(of.children[i]));
    return made;
  }

  Value call(ExprId id, bool forked) {
    const Expr& of = program_[id];
    Value object;
    std::optional<MethodId> callee;
    if (of.children[0] == core::kNoExpr) {
      callee = classes_.function(of.name);
    } else {
      object = expr(of.children[0]);
      const auto found = classes_.method({.name = object.type}, object.path, of.name);
      if (found) callee = found->method;
    }
    const std::vector<Value> arguments = values(of, 1);
    if (!callee) {
      for (const Value& value : arguments) fail(value.type);
      return {};
    }
    const Instance made = instance(*callee, object, arguments, forked);
    note_ghosts(id, *callee, made);
    pass(arguments, *callee, made);
    return {.type = classes_[*callee].method->result.name,
            .lock = made.places.empty() ? std::nullopt : made.places.back()};
  }

  Value new_object(ExprId id) {
    const Expr& of = program_[id];
    Value made = {.type = of.type.name, .made_in = loops_};
    if (is_ghosted(made.type)) made.lock = occurs(id, made.type);
    const std::vector<Value> arguments = values(of, 0);
    if (const auto constructor = classes_.constructor(made.type)) {
      const Instance to = instance(*constructor, made, arguments, false);
      note_ghosts(id, *constructor, to);
      pass(arguments, *constructor, to);
      return made;
    }
    const auto fields = classes_.all_fields({.name = made.type}, Locks::kUnknown);
    for (std::size_t i = 0; i < arguments.size() && i < fields.size(); ++i) {
      flow(arguments[i], fields[i].field->type.name, lock_of_field(fields[i], made));
    }
    return made;
  }

  Value let(ExprId id) {
    const Expr& of = program_[id];
    Value value = expr(of.children[0]);
    if (!of.type.name.empty()) {
      std::optional<LockNode> own;
      if (is_ghosted(of.type.name)) own = occurs(id, of.type.name);
      flow(value, of.type.name, own);
      value.type = of.type.name;
      value.lock = own;
    }
    const bool alias = value.path != Locks::kUnknown;
    const LockId name = locks_.variable(of.name);
    if (!alias) value.path = name;
    variables_[of.name] = value;
    Value result = expr(of.children[1]);
    variables_.erase(of.name);
    if (alias) return result;
    if (locks_.root(result.path).first == name) result.path = Locks::kUnknown;
    const auto lock = result.lock ? unifier_.lock_of(*result.lock) : std::nullopt;
    if (lock && locks_.root(*lock).first == name) result.lock = unknown();
    return result;
  }

  const core::Program& program_;
  Locks& locks_;
  Classes& classes_;
  const Flow& flow_;
  const Families& families_;
  Nulls nulls_;
  FreeNames& names_;
  GhostTypes& made_;
  std::vector<std::size_t> group_;  // of each method: those that it overrides or that override it
  std::vector<std::size_t> group_sizes_;
  std::vector<GhostSignature> signatures_;  // of the groups
  std::set<std::size_t> uneven_;            // groups of methods whose types do not correspond
  std::set<std::string> failed_;

  // Of the method being walked.
  const Method* method_ = nullptr;
  std::optional<LockNode> result_;
  Unifier unifier_;
  std::map<std::string, Value> variables_;
  struct Occurrence {
    ExprId expr = {};
    LockNode lock = {};
    GhostUse use = GhostUse::kGuards;
    std::string made;  // the class of a new object
  };
  std::vector<Occurrence> occurrences_;
  int loops_ = 0;
};

}  // namespace

std::set<std::string> type_ghosts(const core::Program& program, Locks& locks, Classes& classes,
                                  const Flow& flow, const Families& families, Nulls nulls,
                                  FreeNames& names, GhostTypes& made) {
  return Typing(program, locks, classes, flow, families, nulls, names, made).run();
}

}  // namespace tomos::infer
