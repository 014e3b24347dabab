// What the declarations of a program say: classes with their bases, fields and methods, the types
// of locks, and whether the declarations fit together at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/program.h"
#include "event/error.h"
#include "infer/conditional.h"

namespace tomos::infer {

using core::Type;

// In a lock expression. The paper found longer ones to be slower and no more precise.
inline constexpr std::size_t kMostFields = 4;

enum class MethodId : std::uint32_t {};  // the methods of all classes, then the functions

struct MethodOf {
  const core::Method* method = nullptr;
  const core::Class* owner = nullptr;  // none: a function
};

// A member as seen from a type: theta says what `this` and the ghost parameters of its class are
// there.
struct FieldUse {
  const core::Field* field = nullptr;
  Substitution theta;
};
struct MethodUse {
  MethodId method = {};
  Substitution theta;
};

// Names in scope, a list that grows at its end: an environment is its last binding.
enum class EnvId : std::uint32_t {};
inline constexpr EnvId kEmptyEnv{0};

class Classes {
 public:
  Classes(const core::Program& program, Locks& locks);

  // Names once, bases known and not in circles, types with as many locks as their classes ask for.
  Result<void> check() const;
  Result<void> check(const Type& type, const core::Position& position) const;

  const core::Program& program() const { return program_; }
  const core::Class* find(std::string_view name) const;
  // That a field is declared in.
  const core::Class* owner(const core::Field& field) const;
  static bool is_value(const Type& type);  // nothing that could be a lock
  std::optional<FieldUse> field(const Type& type, LockId self, std::string_view name);
  std::optional<MethodUse> method(const Type& type, LockId self, std::string_view name);
  const core::Field* global(const std::string& name) const;  // or static field
  std::optional<MethodId> function(const std::string& name) const;
  std::optional<MethodId> constructor(std::string_view class_name) const;
  // The fields that a new object is given, those of the bases first.
  std::vector<FieldUse> all_fields(const Type& type, LockId self);
  std::vector<Type> bases(const Type& type, LockId self);
  // A lock expression whose root has that type, as the lock of any object that the last field is
  // of.
  std::optional<LockId> of_any(const Type& root, LockId lock) const;
  // That of a field's guard, if it is a lock of the field's object.
  std::optional<LockId> of_any(const core::Class* owner, const core::Guard& guard) const;
  // Whether it begins with a local variable of the method, of which nobody else knows.
  bool is_local(MethodId method, LockId lock) const;
  Type self_type(const core::Class& of);
  // theta for the ghost parameters of the type's class, and this.
  Substitution theta(const Type& type, LockId self) const;

  std::size_t method_count() const { return methods_.size(); }
  const MethodOf& operator[](MethodId id) const { return methods_[static_cast<std::size_t>(id)]; }

  LockId protector(const Type& type, LockId self);
  bool is_reentrant(const Type& type) const { return type.name != "mutex"; }
  bool is_subtype(const Type& type, LockId self, const Type& of);
  bool inherits(const core::Class& of, std::string_view base) const;  // or is the same
  Type substitute(const Substitution& theta, Type type);

  EnvId bind(EnvId env, std::string name, Type type);
  const Type* lookup(EnvId env, std::string_view name) const;
  // The type of a lock expression that is well formed: in scope, over final fields, not too long.
  const Type* type_of(EnvId env, LockId lock);
  // Not a lock, but a thread: whoever gets there is in it.
  bool is_role(EnvId env, LockId lock);
  std::string to_text(EnvId env) const;  // the names bound

 private:
  struct Binding {
    std::string name;
    Type type;
    EnvId parent = {};
  };

  std::optional<Type> find_type(EnvId env, LockId lock);
  const core::Field* find_field(std::string_view class_name, std::string_view name) const;
  std::string display(const core::Position& position) const;
  Result<void> check_class(const core::Class& of) const;
  Result<void> check_method(const core::Method& of) const;

  const core::Program& program_;
  Locks& locks_;
  std::map<std::string, const core::Class*, std::less<>> classes_;
  std::map<std::string, const core::Field*, std::less<>> globals_;
  std::map<std::string, MethodId, std::less<>> functions_;
  std::map<std::pair<const core::Class*, std::string_view>, MethodId> members_;
  std::map<const core::Class*, MethodId> constructors_;
  std::map<const core::Field*, const core::Class*> owners_;
  std::vector<MethodOf> methods_;
  std::vector<Binding> bindings_;
  std::map<std::pair<EnvId, LockId>, std::optional<Type>> types_;
};

// The same method, to change it.
core::Method& mutable_method(core::Program& program, MethodId id);

}  // namespace tomos::infer
