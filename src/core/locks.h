// Lock expressions, each held once: equal expressions have equal ids.
//
// The paper allows every expression that is const. We allow paths, a variable followed by fields:
// those are the expressions whose value a reader can see not to change, and a front end puts
// anything else into a variable first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tomos::core {

enum class LockId : std::uint32_t {};

struct Lock {
  enum class Kind : std::uint8_t {
    kNone,     // no lock: never held
    kAlways,   // held by all threads at once: guards nothing
    kThread,   // `tll`, the lock that stands for the current thread: held from its start to its end
    kUnknown,  // something that is no path: never known to be held
    kGhost,    // a ghost parameter: any lock, none or always
    kVariable,  // a variable, `this`, or a global
    kField,     // name in the object that base denotes
  };
  Kind kind = Kind::kNone;
  LockId base = {};
  std::string name;
};

class Locks {
 public:
  static constexpr LockId kNone{0};
  static constexpr LockId kAlways{1};
  static constexpr LockId kThread{2};
  static constexpr LockId kUnknown{3};

  Locks();

  LockId ghost(std::string_view name) { return intern(Lock::Kind::kGhost, {}, name); }
  LockId variable(std::string_view name) { return intern(Lock::Kind::kVariable, {}, name); }
  LockId field(LockId base, std::string_view name);

  std::size_t size() const { return locks_.size(); }
  const Lock& operator[](LockId id) const { return locks_[static_cast<std::size_t>(id)]; }

  // The variable, ghost or constant that the path begins with, and how many fields follow.
  std::pair<LockId, std::size_t> root(LockId id) const;

  std::string to_string(LockId id) const;

 private:
  LockId intern(Lock::Kind kind, LockId base, std::string_view name);

  std::vector<Lock> locks_;
  std::map<std::pair<std::uint64_t, std::string>, LockId> ids_;
};

}  // namespace tomos::core
