#include <algorithm>
#include <cstddef>
#include <functional>
#include <ranges>
#include <utility>
#include <vector>

#include "summary/summary.h"

namespace tomos::cpp {

namespace {

core::LockId copy_lock(const core::Locks& from, core::LockId id, core::Locks& to) {
  const core::Lock& lock = from[id];
  switch (lock.kind) {
    case core::Lock::Kind::kNone:
      return core::Locks::kNone;
    case core::Lock::Kind::kAlways:
      return core::Locks::kAlways;
    case core::Lock::Kind::kThread:
      return core::Locks::kThread;
    case core::Lock::Kind::kUnknown:
      return core::Locks::kUnknown;
    case core::Lock::Kind::kGhost:
      return to.ghost(lock.name);
    case core::Lock::Kind::kVariable:
      return to.variable(lock.name);
    case core::Lock::Kind::kField:
      return to.field(copy_lock(from, lock.base, to), lock.name);
  }
  return core::Locks::kUnknown;
}

// A few, so looked through.
template <class T>
void unite(std::vector<T>& into, const std::vector<T>& with) {
  for (const T& one : with) {
    if (std::ranges::find(into, one) == into.end()) into.push_back(one);
  }
}

// What is a system header in one unit may be the project's own in another. Where it is a system
// header its classes are values that the core does not look into.
bool looks_into(const core::Type& type, const core::Type& elsewhere) {
  return elsewhere.name == "int" && type.name != "int" && type.name != "void" &&
         type.name != "mutex" && type.name != "recursive_mutex";
}

void look_into(core::Type& type, const core::Type& with) {
  if (looks_into(with, type)) type = with;
}

std::size_t common_parameters(const core::Method& a, const core::Method& b) {
  return std::min(a.parameters.size(), b.parameters.size());
}

bool looks_into(const core::Method& method, const core::Method& elsewhere) {
  for (std::size_t i = 0; i < common_parameters(method, elsewhere); ++i) {
    if (looks_into(method.parameters[i].type, elsewhere.parameters[i].type)) return true;
  }
  return looks_into(method.result, elsewhere.result);
}

void look_into(core::Method& method, const core::Method& with) {
  look_into(method.result, with.result);
  for (std::size_t i = 0; i < common_parameters(method, with); ++i) {
    look_into(method.parameters[i].type, with.parameters[i].type);
  }
}

}  // namespace

// Bodies are copied only when they are kept: a header's are in every unit.
struct Merger::Mover {
  const core::Program& from;
  core::Program& to;
  std::vector<std::uint32_t> files;

  void move(core::Position& position) const {
    if (position.file < files.size()) position.file = files[position.file];
  }
  void move(std::vector<core::LockId>& locks) const {
    for (core::LockId& lock : locks) lock = copy_lock(from.locks, lock, to.locks);
  }
  core::TermId copy(core::TermId id) const {
    core::Term term = from[id];
    if (term.predicate) {
      term.predicate->lock = copy_lock(from.locks, term.predicate->lock, to.locks);
      term.then = copy(term.then);
      term.otherwise = copy(term.otherwise);
    }
    return to.add(term);
  }
  core::ExprId copy(core::ExprId id) const {
    if (id == core::kNoExpr) return id;
    core::Expr made = from[id];
    move(made.position);
    move(made.end);
    move(made.locks);
    move(made.type.locks);
    if (made.kind == core::Expr::Kind::kExpect) made.expected = copy(made.expected);
    for (core::ExprId& child : made.children) child = copy(child);
    return to.add(std::move(made));
  }

  core::Field moved(core::Field field) const {
    move(field.type.locks);
    move(field.position);
    move(field.end);
    field.guard.lock = copy_lock(from.locks, field.guard.lock, to.locks);
    return field;
  }
  // Without its body.
  core::Method moved(core::Method method) const {
    if (method.atomicity) method.atomicity = copy(*method.atomicity);
    for (core::Parameter& parameter : method.parameters) move(parameter.position);
    move(method.requires_held);
    move(method.acquires);
    move(method.releases);
    move(method.excludes);
    move(method.position);
    move(method.begin);
    move(method.end);
    method.body = core::kNoExpr;
    return method;
  }

  void add(std::vector<core::Field>& all, std::map<std::string, std::size_t>& index,
           const core::Field& made) {
    const auto [at, is_new] = index.emplace(made.name, all.size());
    if (is_new) {
      all.push_back(moved(made));
      return;
    }
    core::Field& into = all[at->second];
    unite(into.keeps, made.keeps);
    if (looks_into(made.type, into.type)) {
      core::Field further = moved(made);
      further.keeps = into.keeps;
      if (into.is_given) {
        further.guard = into.guard;
        further.is_given = true;
      }
      into = std::move(further);
      return;
    }
    // Where each instantiation has another class there, it is final only if it is in all of them.
    const bool is_final = into.guard.kind == core::Guard::Kind::kFinal;
    const bool other_is_final = made.guard.kind == core::Guard::Kind::kFinal;
    if (is_final != other_is_final && into.type.name == "int" && !made.is_given && !into.is_given) {
      if (is_final) into.guard = {};
      return;
    }
    if (into.guard.kind == core::Guard::Kind::kUnset || (made.is_given && !into.is_given)) {
      const core::Field other = moved(made);
      into.guard = other.guard;
      into.is_given = other.is_given;
    }
  }

  // What was said at one declaration holds for all; the definition is where the method is.
  void add(std::vector<core::Method>& all, std::map<std::string, std::size_t>& index,
           const core::Method& made) {
    const auto [at, is_new] = index.emplace(made.name, all.size());
    if (is_new) {
      all.push_back(moved(made));
      all.back().body = copy(made.body);
      return;
    }
    core::Method& into = all[at->second];
    const bool looks_further = looks_into(made, into);
    if (into.body != core::kNoExpr && (into.is_given || !made.is_given) && !looks_further) return;
    core::Method other = moved(made);
    if (made.body != core::kNoExpr && (into.body == core::kNoExpr || looks_further)) {
      std::swap(into, other);
      into.body = copy(made.body);
    }
    look_into(into, other);
    const bool same_names = std::ranges::equal(into.parameters, other.parameters, {},
                                               &core::Parameter::name, &core::Parameter::name);
    if (!into.is_given && other.is_given && same_names) {
      into.requires_held = other.requires_held;
      into.acquires = other.acquires;
      into.releases = other.releases;
      into.is_given = true;
    }
    if (into.excludes.empty() && same_names) into.excludes = other.excludes;
    if (!into.atomicity) into.atomicity = other.atomicity;
  }
};

void Merger::add_class(const core::Class& made, Mover& mover) {
  std::vector<core::Class>& all = whole_.program.classes;
  const auto [at, is_new] = classes_.emplace(made.name, all.size());
  if (is_new) all.push_back({.name = made.name, .display = made.display});
  core::Class& into = all[at->second];
  if (into.position.line == 0 || (into.fields.empty() && !made.fields.empty())) {
    into.position = made.position;
    mover.move(into.position);
  }
  unite(into.bases, made.bases);
  into.is_kept |= made.is_kept;
  std::map<std::string, std::size_t> names;
  for (std::size_t i = 0; i < into.fields.size(); ++i) names.emplace(into.fields[i].name, i);
  for (const core::Field& field : made.fields) mover.add(into.fields, names, field);
  names.clear();
  for (std::size_t i = 0; i < into.methods.size(); ++i) names.emplace(into.methods[i].name, i);
  for (const core::Method& method : made.methods) mover.add(into.methods, names, method);
}

void Merger::add(const Summary& summary) {
  const core::Program& from = summary.program;
  Mover mover = {.from = from, .to = whole_.program, .files = {}};
  for (const std::string& file : from.files) {
    const auto [at, is_new] =
        files_.emplace(file, static_cast<std::uint32_t>(whole_.program.files.size()));
    if (is_new) whole_.program.files.push_back(file);
    mover.files.push_back(at->second);
  }
  for (const core::Class& made : from.classes) add_class(made, mover);
  for (const core::Field& made : from.globals) mover.add(whole_.program.globals, globals_, made);
  for (const core::Method& made : from.functions) {
    if (!made.is_unknown) {
      mover.add(whole_.program.functions, functions_, made);
    } else if (!foreign_.contains(made.name)) {
      foreign_.emplace(made.name, mover.moved(made));
    }
  }
  whole_.lock_classes.insert(summary.lock_classes.begin(), summary.lock_classes.end());
  whole_.unknown_calls.insert(summary.unknown_calls.begin(), summary.unknown_calls.end());
  for (const core::AnnotationMacros& made : summary.macros) {
    const auto known =
        std::ranges::find(whole_.macros, made.header, &core::AnnotationMacros::header);
    if (known == whole_.macros.end()) {
      whole_.macros.push_back(made);
    } else {
      known->visible_in.insert(made.visible_in.begin(), made.visible_in.end());
    }
  }
}

// A function that is foreign in some units is the project's if it is in one. What is known of it by
// its name holds if there is no source. Who takes it for foreign gives it no arguments: what it was
// given nobody knows.
void Merger::settle_foreign() {
  core::Program& program = whole_.program;
  std::map<std::string, core::Method*> own;
  for (core::Class& of : program.classes) {
    for (core::Method& method : of.methods) {
      if (method.kind == core::Method::Kind::kStatic) {
        own.emplace(of.name + "::" + method.name, &method);
      }
    }
  }
  for (core::Method& function : program.functions) own.emplace(function.name, &function);
  std::vector<core::Method> others;
  for (const auto& [name, foreign] : foreign_) {
    const auto at = own.find(name);
    if (at == own.end()) {
      others.push_back(foreign);
    } else if (at->second->body == core::kNoExpr && !at->second->atomicity) {
      at->second->atomicity = foreign.atomicity;
      at->second->is_unknown = foreign.atomicity.has_value();
    }
  }
  const std::size_t count = program.exprs.size();
  for (std::size_t i = 0; i < count; ++i) {
    const core::Expr call = program.exprs[i];
    if (call.kind != core::Expr::Kind::kCall || call.children[0] != core::kNoExpr) continue;
    const auto at = own.find(call.name);
    if (at == own.end()) continue;
    for (std::size_t given = call.children.size() - 1; given < at->second->parameters.size();
         ++given) {
      const core::Type& type = at->second->parameters[given].type;
      const bool is_value = type.name == "int" || type.name == "void";
      core::Expr some = {.kind = core::Expr::Kind::kNull, .position = call.position};
      if (is_value) some.kind = core::Expr::Kind::kConstant;
      if (is_value) some.name = "0";
      const core::ExprId added = program.add(std::move(some));
      program.exprs[i].children.push_back(added);
    }
  }
  program.functions.insert(program.functions.end(), others.begin(), others.end());
}

// The core has one constructor for a class: any of them.
void Merger::combine_constructors(core::Class& of) {
  const auto is_constructor = [](const core::Method& method) {
    return method.kind == core::Method::Kind::kConstructor;
  };
  if (std::ranges::none_of(of.methods, is_constructor)) return;
  core::Method all = *std::ranges::find_if(of.methods, is_constructor);
  const bool alone = std::ranges::count_if(of.methods, is_constructor) == 1;
  core::Program& program = whole_.program;
  core::ExprId body = core::kNoExpr;
  for (const core::Method& method : of.methods | std::views::reverse) {
    if (!is_constructor(method) || method.body == core::kNoExpr) continue;
    const core::Position at = method.position;
    if (body == core::kNoExpr) {
      body = method.body;
      continue;
    }
    const core::ExprId either =
        program.add({.kind = core::Expr::Kind::kConstant, .position = at, .name = "false"});
    body = program.add(
        {.kind = core::Expr::Kind::kIf, .position = at, .children = {either, method.body, body}});
  }
  all.name = of.name;
  all.body = body;
  if (!alone) all.requires_held.clear();
  std::erase_if(of.methods, is_constructor);
  of.methods.insert(of.methods.begin(), std::move(all));
}

// A function without source may do anything. A method without a body, but with overrides, does what
// they do.
void Merger::name_unknown() {
  core::Program& program = whole_.program;
  std::set<std::string> called;
  for (const core::Expr& expr : program.exprs) {
    if (expr.kind == core::Expr::Kind::kCall) called.insert(expr.name);
  }
  const core::TermId anything = program.add(core::Term{.basic = core::Basic::kCompound});
  std::set<std::pair<std::string, std::string>> implemented;  // class above, method
  std::function<void(const core::Class&, const std::string&)> implement =
      [&](const core::Class& of, const std::string& name) {
        for (const core::Type& base : of.bases) {
          const auto at = classes_.find(base.name);
          if (at == classes_.end() || !implemented.emplace(base.name, name).second) continue;
          implement(program.classes[at->second], name);
        }
      };
  for (const core::Class& of : program.classes) {
    for (const core::Method& method : of.methods) {
      if (method.body != core::kNoExpr) implement(of, method.name);
    }
  }
  const auto unknown = [&](core::Method& method, const std::string& display) {
    if (method.body != core::kNoExpr || method.atomicity) return;
    method.atomicity = anything;
    method.is_unknown = true;
    if (called.contains(method.name) || called.contains(display)) {
      whole_.unknown_calls.insert(display);
    }
  };
  for (core::Class& of : program.classes) {
    for (core::Method& method : of.methods) {
      if (method.kind == core::Method::Kind::kConstructor ||
          method.kind == core::Method::Kind::kDestructor) {
        continue;
      }
      if (implemented.contains({of.name, method.name})) continue;
      unknown(method, method.display.empty() ? of.name + "::" + method.name : method.display);
    }
  }
  for (core::Method& function : program.functions) {
    unknown(function, function.display.empty() ? function.name : function.display);
  }
}

void Merger::rename_locks() {
  core::Program& program = whole_.program;
  const auto rename = [&](core::Type& type) {
    const auto at = whole_.lock_classes.find(type.name);
    if (at != whole_.lock_classes.end()) type = {.name = at->second, .locks = {}};
  };
  // The class is gone, but not the locks that are static in it.
  for (const core::Class& of : program.classes) {
    if (!whole_.lock_classes.contains(of.name)) continue;
    for (core::Field field : of.fields) {
      if (!field.is_static) continue;
      field.name = of.name + "::" + field.name;
      field.is_static = false;
      program.globals.push_back(std::move(field));
    }
  }
  std::erase_if(program.classes,
                [&](const core::Class& of) { return whole_.lock_classes.contains(of.name); });
  for (core::Class& of : program.classes) {
    for (core::Type& base : of.bases) rename(base);
    for (core::Field& field : of.fields) rename(field.type);
    for (core::Method& method : of.methods) {
      rename(method.result);
      for (core::Parameter& parameter : method.parameters) rename(parameter.type);
    }
  }
  for (core::Field& global : program.globals) rename(global.type);
  for (core::Method& function : program.functions) {
    rename(function.result);
    for (core::Parameter& parameter : function.parameters) rename(parameter.type);
  }
  for (core::Expr& expr : program.exprs) {
    if (!expr.type.name.empty()) rename(expr.type);
  }
}

Summary Merger::take() {
  settle_foreign();
  name_unknown();
  for (core::Class& of : whole_.program.classes) combine_constructors(of);
  rename_locks();
  return std::move(whole_);
}

}  // namespace tomos::cpp
