#include "infer/flow.h"

#include <algorithm>
#include <utility>

#include "core/any_object.h"
#include "infer/flow_calls.h"
#include "infer/ways.h"

namespace tomos::infer {

using core::Expr;
using core::Field;
using core::Guard;
using core::Method;

namespace {

// What a method does to locks is known after as many rounds as calls are nested that pass it on.
constexpr int kMostRounds = 5;

class Walker {
 public:
  Walker(const core::Program& program, Locks& locks, Classes& classes)
      : program_(program), locks_(locks), classes_(classes) {}

  Flow run() {
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
    made_.acquiring = made_.excluded;
    exclude_for_callers(made_, locks_);
    return std::move(made_);
  }

 private:
  struct Value {
    Type type;
    LockId path = Locks::kUnknown;
    bool unshared = false;
    std::optional<std::size_t> access;  // of the field that it was read from
    const Field* field = nullptr;
  };
  struct Variable {
    Type type;
    LockId path = Locks::kUnknown;
    const Field* field = nullptr;  // that it was read from, of some object
  };
  struct Loop {
    std::vector<Way> breaks;
    std::vector<Way> continues;
    std::size_t sections = 0;  // around the loop
  };

  // In the first round it is not known what changes: what is not said to is taken not to.
  bool is_final(const Field& field) const {
    if (field.guard.kind == Guard::Kind::kFinal) return true;
    return field.guard.kind == Guard::Kind::kUnset && !made_.wandering.contains(&field);
  }

  void begin(MethodId id) {
    current_ = id;
    variables_.clear();
    fields_.clear();
    way_ = {};
    exits_.clear();
    loops_.clear();
    sections_.clear();
    silent_ = 0;
  }

  void method(MethodId id) {
    const MethodOf& of = classes_[id];
    method_ = of.method;
    if (method_->body == core::kNoExpr || method_->no_warn) return;
    begin(id);
    if (of.owner != nullptr && method_->kind != Method::Kind::kStatic) {
      variables_["this"] = {.type = classes_.self_type(*of.owner), .path = locks_.variable("this")};
    }
    for (const core::Parameter& parameter : method_->parameters) {
      variables_[parameter.name] = {.type = parameter.type,
                                    .path = locks_.variable(parameter.name)};
    }
    expr(method_->body);
    leave();
    note_effects(id);
  }

  void main_block() {
    if (program_.main == core::kNoExpr) return;
    method_ = nullptr;
    begin(kMain);
    way_.holds[Locks::kThread].depth = 1;
    expr(program_.main);
  }

  void leave() {
    if (!way_.reachable) return;
    Way last = way_;
    for (const LockId lock : sections_) leave_section(last, lock);
    exits_.push_back(std::move(last));
    way_.reachable = false;
  }

  bool is_callers(LockId lock) const {
    const core::Lock& root = locks_[locks_.root(lock).first];
    if (root.kind != core::Lock::Kind::kVariable) return false;
    if (root.name == "this" || classes_.global(root.name) != nullptr) return true;
    return std::ranges::find(method_->parameters, root.name, &core::Parameter::name) !=
           method_->parameters.end();
  }

  void note_effects(MethodId id) {
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

  HoldsId holds_now() {
    const auto [at, is_new] =
        known_holds_.try_emplace(way_.holds, static_cast<HoldsId>(made_.holds.size()));
    if (is_new) made_.holds.push_back(way_.holds);
    return at->second;
  }

  bool is_construction() const {
    return method_ != nullptr && (method_->kind == Method::Kind::kConstructor ||
                                  method_->kind == Method::Kind::kDestructor);
  }

  // --- Expressions ---

  Value expr(ExprId id) {
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
        take(lock);
        sections_.push_back(lock);
        const Value value = expr(of.children[1]);
        sections_.pop_back();
        if (way_.reachable) leave_section(way_, lock);
        return value;
      }
      case Expr::Kind::kLock: {
        const LockId lock = lock_of(of.children[0]);
        exclude(lock, id);
        take(lock);
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
          leave_section(out, sections_[i]);
        }
        (of.kind == Expr::Kind::kBreak ? around.breaks : around.continues)
            .push_back(std::move(out));
        way_.reachable = false;
        return {};
      }
    }
    return {};
  }

  // An object that is only looked into, or whose method is called: that tells nobody of it.
  Value object(ExprId id) {
    return program_[id].kind == Expr::Kind::kVariable ? variable(id) : expr(id);
  }

  Value variable(ExprId id) {
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

  LockId path_of_global(const Field& shared, const std::string& name) {
    if (!is_final(shared)) return Locks::kUnknown;
    const LockId made = locks_.variable(name);
    fields_[made] = &shared;
    if (made_.changing.contains(&shared)) made_.loose.insert(made);
    return made;
  }

  // Its index, if it was noted.
  std::optional<std::size_t> access(ExprId id, const Field& field, Substitution theta,
                                    Access::Kind kind, bool unshared) {
    const bool initial =
        is_construction() || (initialising_.contains(current_) && way_.holds.empty());
    const bool own = initial && theta.find("this") == locks_.variable("this");
    if (silent_ > 0 || !way_.reachable) return std::nullopt;
    made_.accesses.push_back({.kind = kind,
                              .field = &field,
                              .method = current_,
                              .expr = id,
                              .theta = std::move(theta),
                              .holds = holds_now(),
                              .unshared = unshared || own});
    return made_.accesses.size() - 1;
  }

  Value field(ExprId id) {
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

  LockId path(LockId object_path, const Field& of) {
    if (object_path == Locks::kUnknown || !is_final(of)) return Locks::kUnknown;
    if (locks_.root(object_path).second >= kMostFields) return Locks::kUnknown;
    const LockId made = locks_.field(object_path, of.name);
    fields_[made] = &of;
    if (made_.changing.contains(&of)) made_.loose.insert(made);
    return made;
  }

  Value assign(ExprId id) {
    const Expr& of = program_[id];
    const Expr& left = program_[of.children[0]];
    const Access::Kind kind =
        of.kind == Expr::Kind::kUpdate ? Access::Kind::kUpdate : Access::Kind::kWrite;
    if (left.kind != Expr::Kind::kField) {
      const Value value = expr(of.children[1]);
      const Field* shared = classes_.global(left.name);
      if (shared == nullptr) return {.type = value.type};
      access(id, *shared, {}, kind, false);
      if (kind == Access::Kind::kWrite) return {.type = shared->type, .path = value.path};
      return {.type = shared->type, .path = path_of_global(*shared, left.name)};
    }
    const Value object_value = object(left.children[0]);
    const Value value = expr(of.children[1]);
    const auto use = classes_.field(object_value.type, object_value.path, left.name);
    if (!use) return {.type = value.type, .path = value.path};
    const auto at = access(id, *use->field, use->theta, kind, object_value.unshared);
    if (at) made_.accesses[*at].empties = is_gone(program_, of.children[1]);
    // What is changed is still the same object, and its methods are called like this.
    return {
        .type = classes_.substitute(use->theta, use->field->type),
        .path = kind == Access::Kind::kWrite ? value.path : path(object_value.path, *use->field)};
  }

  void arguments(ExprId call, std::size_t first, const Method* method, Substitution& theta) {
    const Expr& of = program_[call];
    for (std::size_t i = first; i < of.children.size(); ++i) {
      const Value value = expr(of.children[i]);
      if (value.access) made_.accesses[*value.access].changes = true;
      if (method == nullptr || i - first >= method->parameters.size()) continue;
      const core::Parameter& parameter = method->parameters[i - first];
      if (!Classes::is_value(parameter.type)) {
        theta.pairs.emplace_back(parameter.name, value.path);
      }
    }
  }

  void invoke(CallSite site) {
    const Method& method = *classes_[site.callee].method;
    if (silent_ == 0 && way_.reachable) {
      site.caller = current_;
      site.holds = holds_now();
      made_.calls.push_back(site);
    }
    if (site.forked) return;
    const auto each = [&](const std::vector<LockId>& declared,
                          const std::map<MethodId, std::vector<LockId>>& found, auto does) {
      for (const LockId lock : declared) (this->*does)(substitute(locks_, site.theta, lock));
      const auto more = found.find(site.callee);
      if (more == found.end()) return;
      for (const LockId lock : more->second) {
        (this->*does)(substitute(locks_, site.theta, lock));
      }
    };
    each(method.acquires, acquires_, &Walker::take);
    each(method.releases, releases_, &Walker::give);
  }

  Value call(ExprId id, bool forked) {
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

  Value new_object(ExprId id) {
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

  Value let(ExprId id) {
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

  // --- Ways and locks ---

  // In the next round of a loop the name stands for something else.
  void forget(LockId variable) {
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

  LockId lock_of(ExprId id) {
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
      if (value.path != Locks::kUnknown) made_.locked_classes.insert(value.type.name);
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

  // What is known where it is true, and where it is false.
  std::pair<Way, Way> condition(ExprId id) {
    const Expr& of = program_[id];
    if (of.kind == Expr::Kind::kTryLock) {
      const LockId lock = lock_of(of.children[0]);
      const Way no = way_;
      take(lock);
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

  void loop(ExprId id) {
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

  // Whose lock it is may be forgotten on the way to a field that it guards; of which class is not.
  std::optional<LockId> of_any(LockId lock) const {
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

  void take(LockId lock) {
    if (lock == Locks::kUnknown) return;
    ++way_.holds[lock].depth;
    if (const auto any = of_any(lock)) ++way_.holds[*any].depth;
  }

  // What was taken, at the end of its block.
  void leave_section(Way& way, LockId lock) {
    drop(way, lock);
    if (const auto any = of_any(lock)) drop(way, *any);
  }

  void exclude(LockId lock, ExprId id) {
    if (lock == Locks::kUnknown || !way_.reachable) return;
    if (!is_mutex_.contains(program_[id].children[0])) return;
    if (!way_.holds.contains(lock)) made_.excluded.insert({current_, lock});
    const auto any = of_any(lock);
    if (any && !way_.holds.contains(*any)) made_.excluded.insert({current_, *any});
  }

  void give(LockId lock) {
    if (lock == Locks::kUnknown) return;
    if (!give_back(way_, lock)) presume(lock);
    if (const auto any = of_any(lock)) give_back(way_, *any);
  }

  void presume(LockId lock) {
    if (silent_ > 0 || !way_.reachable || method_ == nullptr || !is_callers(lock)) return;
    made_.presumed.push_back({.method = current_, .lock = lock});
  }

  const core::Program& program_;
  Locks& locks_;
  Classes& classes_;
  Flow made_;
  std::map<MethodId, std::vector<LockId>> acquires_;  // as the last round found them
  std::map<MethodId, std::vector<LockId>> releases_;
  std::map<Holds, HoldsId> known_holds_;
  std::set<MethodId> initialising_;
  std::set<ExprId> is_mutex_;

  // Of the method being walked.
  MethodId current_ = kMain;
  const Method* method_ = nullptr;
  std::map<std::string, Variable> variables_;
  std::map<LockId, const Field*> fields_;  // at the ends of lock expressions
  Way way_;
  std::vector<Way> exits_;
  std::vector<Loop> loops_;
  std::vector<LockId> sections_;
  std::size_t silent_ = 0;
};

}  // namespace

Flow flow_of(const core::Program& program, Locks& locks, Classes& classes) {
  return Walker(program, locks, classes).run();
}

}  // namespace tomos::infer
