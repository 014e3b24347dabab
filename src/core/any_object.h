// The lock of some object of a class, whichever it is: `&Class::m`, as Clang's attributes say it,
// too. Held by whoever holds the lock of any such object.
#pragma once

#include <string>
#include <string_view>

#include "core/locks.h"

namespace tomos::core {

inline LockId of_any(Locks& locks, std::string_view class_name, std::string_view field) {
  return locks.variable("&" + std::string(class_name) + "::" + std::string(field));
}

inline bool is_of_any(const Locks& locks, LockId id) {
  return locks[id].kind == Lock::Kind::kVariable && locks[id].name.starts_with('&');
}

}  // namespace tomos::core
