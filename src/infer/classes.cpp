#include "infer/classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <expected>
#include <set>

#include "core/any_object.h"
#include "core/printer.h"

namespace tomos::infer {

using core::Class;
using core::Field;
using core::Guard;
using core::Lock;
using core::Method;

namespace {

bool is_builtin_class(std::string_view name) {
  return name == "Object" || name == "mutex" || name == "recursive_mutex";
}

}  // namespace

Classes::Classes(const core::Program& program, Locks& locks) : program_(program), locks_(locks) {
  for (const Class& of : program.classes) {
    classes_.emplace(of.name, &of);
    for (const Field& field : of.fields) {
      if (field.is_static) globals_.emplace(of.name + "::" + field.name, &field);
      owners_.emplace(&field, &of);
    }
    for (const Method& method : of.methods) {
      const auto id = static_cast<MethodId>(methods_.size());
      methods_.push_back({.method = &method, .owner = &of});
      if (method.kind == Method::Kind::kStatic) {
        functions_.emplace(of.name + "::" + method.name, id);
      } else if (method.kind == Method::Kind::kConstructor) {
        constructors_.emplace(&of, id);
      } else {
        members_.emplace(std::pair(&of, std::string_view(method.name)), id);
      }
    }
  }
  for (const Field& global : program.globals) globals_.emplace(global.name, &global);
  for (const Method& function : program.functions) {
    functions_.emplace(function.name, static_cast<MethodId>(methods_.size()));
    methods_.push_back({.method = &function, .owner = nullptr});
  }
}

std::string Classes::display(const core::Position& position) const {
  return core::to_string(program_, position);
}

const Class* Classes::find(std::string_view name) const {
  const auto at = classes_.find(name);
  return at == classes_.end() ? nullptr : at->second;
}

const Class* Classes::owner(const Field& field) const {
  const auto at = owners_.find(&field);
  return at == owners_.end() ? nullptr : at->second;
}

bool Classes::is_value(const Type& type) {
  static constexpr auto kValues =
      std::to_array<std::string_view>({"int", "bool", "string", "void"});
  return std::ranges::find(kValues, type.name) != kValues.end();
}

const Field* Classes::global(const std::string& name) const {
  const auto at = globals_.find(name);
  return at == globals_.end() ? nullptr : at->second;
}

std::optional<MethodId> Classes::function(const std::string& name) const {
  const auto at = functions_.find(name);
  if (at == functions_.end()) return std::nullopt;
  return at->second;
}

std::optional<MethodId> Classes::constructor(std::string_view class_name) const {
  const auto at = constructors_.find(find(class_name));
  if (at == constructors_.end()) return std::nullopt;
  return at->second;
}

Type Classes::substitute(const Substitution& theta, Type type) {
  for (LockId& lock : type.locks) lock = infer::substitute(locks_, theta, lock);
  return type;
}

Substitution Classes::theta(const Type& type, LockId self) const {
  Substitution theta = {.pairs = {{"this", self}}};
  if (const Class* of = find(type.name)) {
    for (std::size_t i = 0; i < of->ghosts.size() && i < type.locks.size(); ++i) {
      theta.pairs.emplace_back(of->ghosts[i], type.locks[i]);
    }
  }
  return theta;
}

std::vector<Type> Classes::bases(const Type& type, LockId self) {
  std::vector<Type> made;
  if (const Class* of = find(type.name)) {
    for (const Type& base : of->bases) made.push_back(substitute(theta(type, self), base));
  }
  return made;
}

Type Classes::self_type(const Class& of) {
  Type type = {.name = of.name};
  for (const std::string& ghost : of.ghosts) type.locks.push_back(locks_.ghost(ghost));
  return type;
}

std::optional<FieldUse> Classes::field(const Type& type, LockId self, std::string_view name) {
  const Class* of = find(type.name);
  if (of == nullptr) return std::nullopt;
  for (const Field& field : of->fields) {
    if (!field.is_static && field.name == name) {
      return FieldUse{.field = &field, .theta = theta(type, self)};
    }
  }
  for (const Type& base : bases(type, self)) {
    if (auto found = field(base, self, name)) return found;
  }
  return std::nullopt;
}

std::vector<FieldUse> Classes::all_fields(const Type& type, LockId self) {
  std::vector<FieldUse> made;
  const Class* of = find(type.name);
  if (of == nullptr) return made;
  for (const Type& base : bases(type, self)) {
    for (FieldUse& use : all_fields(base, self)) made.push_back(std::move(use));
  }
  for (const Field& field : of->fields) {
    if (!field.is_static) made.push_back({.field = &field, .theta = theta(type, self)});
  }
  return made;
}

std::optional<LockId> Classes::of_any(const Type& root, LockId lock) const {
  std::vector<std::string> names;
  for (; locks_[lock].kind == Lock::Kind::kField; lock = locks_[lock].base) {
    names.push_back(locks_[lock].name);
  }
  const Field* end = nullptr;
  std::string type = root.name;
  for (std::size_t i = names.size(); i-- > 0;) {
    end = find_field(type, names[i]);
    if (end == nullptr) return std::nullopt;
    type = end->type.name;
  }
  const Class* of = end == nullptr ? nullptr : owner(*end);
  if (of == nullptr) return std::nullopt;
  return core::of_any(locks_, of->name, end->name);
}

std::optional<LockId> Classes::of_any(const Class* owner, const core::Guard& guard) const {
  if (owner == nullptr || locks_[locks_.root(guard.lock).first].name != "this") {
    return std::nullopt;
  }
  return of_any({.name = owner->name}, guard.lock);
}

bool Classes::is_local(MethodId method, LockId lock) const {
  const Lock& root = locks_[locks_.root(lock).first];
  if (root.kind != Lock::Kind::kVariable || root.name == "this" || global(root.name) != nullptr ||
      core::is_of_any(locks_, locks_.root(lock).first)) {
    return false;
  }
  const std::vector<core::Parameter>& parameters = (*this)[method].method->parameters;
  return std::ranges::find(parameters, root.name, &core::Parameter::name) == parameters.end();
}

const Field* Classes::find_field(std::string_view class_name, std::string_view name) const {
  const Class* of = find(class_name);
  if (of == nullptr) return nullptr;
  for (const Field& field : of->fields) {
    if (!field.is_static && field.name == name) return &field;
  }
  for (const Type& base : of->bases) {
    if (const Field* found = find_field(base.name, name)) return found;
  }
  return nullptr;
}

std::optional<MethodUse> Classes::method(const Type& type, LockId self, std::string_view name) {
  const Class* of = find(type.name);
  if (of == nullptr) return std::nullopt;
  if (const auto own = members_.find({of, name}); own != members_.end()) {
    return MethodUse{.method = own->second, .theta = theta(type, self)};
  }
  // What is inherited without a body may be inherited with one from another base.
  std::optional<MethodUse> first;
  for (const Type& base : bases(type, self)) {
    auto found = method(base, self, name);
    if (found && (*this)[found->method].method->body != core::kNoExpr) return found;
    if (found && !first) first = std::move(found);
  }
  return first;
}

// Section 6.2: that of the Object it extends; without bases the first ghost parameter.
LockId Classes::protector(const Type& type, LockId self) {
  const std::vector<Type> above = bases(type, self);
  if (!above.empty()) return protector(above.front(), self);
  return type.locks.empty() ? Locks::kNone : type.locks.front();
}

bool Classes::inherits(const Class& of, std::string_view base) const {
  return of.name == base || std::ranges::any_of(of.bases, [&](const Type& above) {
           const Class* const found = find(above.name);
           return found != nullptr && inherits(*found, base);
         });
}

bool Classes::is_subtype(const Type& type, LockId self, const Type& of) {
  if (type.name == of.name) {
    // Builtin classes may leave out the lock that protects them: none.
    const std::size_t count = std::max(type.locks.size(), of.locks.size());
    for (std::size_t i = 0; i < count; ++i) {
      const LockId a = i < type.locks.size() ? type.locks[i] : Locks::kNone;
      const LockId b = i < of.locks.size() ? of.locks[i] : Locks::kNone;
      if (a != b && a != Locks::kUnknown && b != Locks::kUnknown) return false;
    }
    return true;
  }
  if (is_value(type) || type.name.empty()) return is_value(of) || type.name.empty();
  if (of.name == "Object") {
    const LockId wanted = of.locks.empty() ? Locks::kNone : of.locks.front();
    const LockId got = protector(type, self);
    return got == wanted || got == Locks::kUnknown || wanted == Locks::kUnknown;
  }
  return std::ranges::any_of(bases(type, self),
                             [&](const Type& base) { return is_subtype(base, self, of); });
}

EnvId Classes::bind(EnvId env, std::string name, Type type) {
  bindings_.push_back({.name = std::move(name), .type = std::move(type), .parent = env});
  return static_cast<EnvId>(bindings_.size());
}

const Type* Classes::lookup(EnvId env, std::string_view name) const {
  while (env != kEmptyEnv) {
    const Binding& at = bindings_[static_cast<std::size_t>(env) - 1];
    if (at.name == name) return &at.type;
    env = at.parent;
  }
  return nullptr;
}

std::string Classes::to_text(EnvId env) const {
  if (env == kEmptyEnv) return {};
  const Binding& at = bindings_[static_cast<std::size_t>(env) - 1];
  const std::string before = to_text(at.parent);
  const std::string type = at.type.name == "ghost" ? "ghost" : core::to_text(locks_, at.type);
  return before + (before.empty() ? "" : ", ") + type + " " + at.name;
}

const Type* Classes::type_of(EnvId env, LockId lock) {
  auto at = types_.find({env, lock});
  if (at == types_.end()) {
    at = types_.emplace(std::pair(env, lock), find_type(env, lock)).first;
  }
  const std::optional<Type>& found = at->second;
  return found ? &*found : nullptr;
}

std::optional<Type> Classes::find_type(EnvId env, LockId lock) {
  if (locks_.root(lock).second > kMostFields) return std::nullopt;
  const Lock of = locks_[lock];
  switch (of.kind) {
    case Lock::Kind::kNone:
    case Lock::Kind::kAlways:
    case Lock::Kind::kThread:
      return Type{.name = "Object"};
    case Lock::Kind::kUnknown:
      return std::nullopt;
    case Lock::Kind::kGhost: {
      const Type* type = lookup(env, of.name);
      if (type == nullptr || type->name != "ghost") return std::nullopt;
      return Type{.name = "Object"};
    }
    case Lock::Kind::kVariable: {
      if (const Type* type = lookup(env, of.name)) {
        if (type->name == "ghost") return std::nullopt;
        return *type;
      }
      const Field* shared = global(of.name);
      if (shared == nullptr || shared->guard.kind != Guard::Kind::kFinal) return std::nullopt;
      return shared->type;
    }
    case Lock::Kind::kField:
      break;
  }
  const Type* base = type_of(env, of.base);
  if (base == nullptr) return std::nullopt;
  const auto use = field(*base, of.base, of.name);
  if (!use || use->field->guard.kind != Guard::Kind::kFinal) return std::nullopt;
  return substitute(use->theta, use->field->type);
}

bool Classes::is_role(EnvId env, LockId lock) {
  const Lock of = locks_[lock];
  if (of.kind == Lock::Kind::kVariable) {
    const Field* shared = global(of.name);
    return shared != nullptr && shared->is_role;
  }
  if (of.kind != Lock::Kind::kField) return false;
  const Type* base = type_of(env, of.base);
  const auto use = base == nullptr ? std::nullopt : field(*base, of.base, of.name);
  return use && use->field->is_role;
}

Result<void> Classes::check(const Type& type, const core::Position& position) const {
  const auto wrong = [&](std::string what, std::string remedy) {
    return std::unexpected(Error{display(position), std::move(what), std::move(remedy)});
  };
  const Class* of = find(type.name);
  const bool builtin = is_builtin_class(type.name);
  if (of == nullptr && !builtin && !is_value(type)) {
    return wrong(fmt::format("there is no class {}", type.name),
                 "Declare it, or use int, bool, string, void, mutex, recursive_mutex or Object.");
  }
  const std::size_t wanted = of != nullptr ? of->ghosts.size() : builtin ? 1 : 0;
  if (type.locks.size() != wanted && !(builtin && type.locks.empty())) {
    return wrong(
        fmt::format("{} takes {} locks, here are {}", type.name, wanted, type.locks.size()),
        "Give one lock for each ghost parameter of the class: Name<l, m>.");
  }
  return {};
}

Result<void> Classes::check_method(const Method& of) const {
  if (auto fits = check(of.result, of.position); !fits) return fits;
  for (const core::Parameter& parameter : of.parameters) {
    if (auto fits = check(parameter.type, parameter.position); !fits) return fits;
  }
  return {};
}

Result<void> Classes::check_class(const Class& of) const {
  const auto twice = [&](const core::Position& position, std::string_view what,
                         std::string_view name) {
    return std::unexpected(Error{display(position),
                                 fmt::format("{} {} is declared twice", what, name),
                                 "Give one of them another name."});
  };
  if (find(of.name) != &of || is_builtin_class(of.name) || is_value({.name = of.name})) {
    return twice(of.position, "class", of.name);
  }
  std::set<std::string_view> names;
  for (const Field& field : of.fields) {
    if (!names.insert(field.name).second) return twice(field.position, "field", field.name);
    if (auto fits = check(field.type, field.position); !fits) return fits;
  }
  names.clear();
  for (const Method& method : of.methods) {
    if (!names.insert(method.name).second) return twice(method.position, "method", method.name);
    if (auto fits = check_method(method); !fits) return fits;
  }
  for (const Type& base : of.bases) {
    if (auto fits = check(base, of.position); !fits) return fits;
  }
  return {};
}

Result<void> Classes::check() const {
  for (const Class& of : program_.classes) {
    if (auto fits = check_class(of); !fits) return fits;
  }
  // Bases are followed to the end everywhere else: in circles there is none.
  std::map<const Class*, int> state;  // 1: being followed, 2: done
  const auto ends = [&](const auto& follow, const Class& of) -> bool {
    if (state[&of] != 0) return state[&of] == 2;
    state[&of] = 1;
    const bool all = std::ranges::all_of(of.bases, [&](const Type& base) {
      const Class* above = find(base.name);
      return above == nullptr || follow(follow, *above);
    });
    state[&of] = 2;
    return all;
  };
  for (const Class& of : program_.classes) {
    if (!ends(ends, of)) {
      return std::unexpected(Error{display(of.position),
                                   fmt::format("class {} is a base of itself", of.name),
                                   "Take one class out of the circle of bases."});
    }
  }
  for (const Field& global : program_.globals) {
    if (auto fits = check(global.type, global.position); !fits) return fits;
  }
  std::set<std::string_view> names;
  for (const Method& function : program_.functions) {
    if (!names.insert(function.name).second) {
      return std::unexpected(Error{display(function.position),
                                   fmt::format("function {} is declared twice", function.name),
                                   "Give one of them another name."});
    }
    if (auto fits = check_method(function); !fits) return fits;
  }
  return {};
}

core::Method& mutable_method(core::Program& program, MethodId id) {
  auto index = static_cast<std::size_t>(id);
  for (core::Class& of : program.classes) {
    if (index < of.methods.size()) return of.methods[index];
    index -= of.methods.size();
  }
  return program.functions[index];
}

}  // namespace tomos::infer
