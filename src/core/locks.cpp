#include "core/locks.h"

#include "core/words.h"

namespace tomos::core {

Locks::Locks() {
  locks_.push_back({.kind = Lock::Kind::kNone, .name = "none"});
  locks_.push_back({.kind = Lock::Kind::kAlways, .name = "always"});
  locks_.push_back({.kind = Lock::Kind::kThread, .name = "tll"});
  locks_.push_back({.kind = Lock::Kind::kUnknown, .name = "unknown"});
}

LockId Locks::field(LockId base, std::string_view name) {
  const Lock::Kind kind = (*this)[base].kind;
  if (kind == Lock::Kind::kVariable || kind == Lock::Kind::kField) {
    return intern(Lock::Kind::kField, base, name);
  }
  return kUnknown;  // a ghost has no value at run time, and so no fields
}

LockId Locks::intern(Lock::Kind kind, LockId base, std::string_view name) {
  const std::uint64_t key =
      static_cast<std::uint64_t>(kind) << 32U | static_cast<std::uint32_t>(base);
  const auto [at, is_new] = ids_.try_emplace({key, std::string(name)}, LockId{});
  if (is_new) {
    at->second = static_cast<LockId>(locks_.size());
    locks_.push_back({.kind = kind, .base = base, .name = std::string(name)});
  }
  return at->second;
}

std::pair<LockId, std::size_t> Locks::root(LockId id) const {
  std::size_t fields = 0;
  while ((*this)[id].kind == Lock::Kind::kField) {
    id = (*this)[id].base;
    ++fields;
  }
  return {id, fields};
}

std::string Locks::to_string(LockId id) const {
  const Lock& lock = (*this)[id];
  switch (lock.kind) {
    case Lock::Kind::kField:
      return to_string(lock.base) + "." + quoted(lock.name);
    case Lock::Kind::kGhost:
    case Lock::Kind::kVariable:
      return lock.name == "this" ? lock.name : quoted(lock.name);
    case Lock::Kind::kNone:
    case Lock::Kind::kAlways:
    case Lock::Kind::kThread:
    case Lock::Kind::kUnknown:
      return lock.name;
  }
  return {};
}

}  // namespace tomos::core
