// What a program does to locks and fields: for every access and every call the locks that are
// surely held there, and whether anybody else can see the object yet. Guards (guards.h) are
// inferred from that.
//
// Each method is walked once in the order of its execution. Where ways meet, what is held is what
// is held on all of them. Of the locks that the caller holds a method knows nothing; but it knows
// which of them it has released. What a method leaves acquired or released is part of its calls, so
// methods are walked until nothing new is learnt of that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/program.h"
#include "infer/classes.h"
#include "infer/conditional.h"
#include "infer/generate.h"

namespace tomos::infer {

// A lock in a method, apart from what its caller did.
struct Hold {
  int depth = 0;          // how often this method holds it
  bool released = false;  // it was the caller's, and was given back
  bool maybe = false;     // held on some ways that lead here
  bool shared = false;    // as a reader, on some way at least; at a write then not held at all

  friend auto operator<=>(const Hold&, const Hold&) = default;
};
using Holds = std::map<LockId, Hold>;

enum class HoldsId : std::uint32_t {};

struct Access {
  enum class Kind : std::uint8_t { kRead, kWrite, kUpdate };
  Kind kind = Kind::kRead;
  const core::Field* field = nullptr;
  MethodId method = {};
  ExprId expr = core::kNoExpr;
  Substitution theta;  // this and the ghost parameters of the field's class, here
  HoldsId holds = {};
  bool changes = false;   // what the field leads to may be changed through it
  bool empties = false;   // a write of null
  bool makes = false;     // a write of a new object
  bool unshared = false;  // nobody else can see the object
};

std::string_view to_string(Access::Kind kind);

struct CallSite {
  MethodId caller = {};
  MethodId callee = {};
  ExprId expr = core::kNoExpr;
  Substitution theta;
  HoldsId holds = {};
  bool on_this = false;   // of the caller
  bool unshared = false;  // nobody else can see the object
  bool forked = false;    // in a thread of its own
  // The callee acquires them, to call what it was given; so they were put around both.
  std::vector<LockId> brings;
};

struct MethodLock {
  MethodId method = {};
  LockId lock = {};

  friend auto operator<=>(const MethodLock&, const MethodLock&) = default;
};

struct Flow {
  std::vector<Access> accesses;
  std::vector<CallSite> calls;
  std::vector<Holds> holds;  // by id
  // What is released, or waited with, though the method has not acquired it: the caller must have.
  std::vector<MethodLock> presumed;
  // What is acquired though the caller may hold it, and is not to be acquired twice: it does not.
  std::set<MethodLock> excluded;
  std::set<MethodLock> acquiring;  // those of them that do so themselves, not by a call
  std::set<MethodId> leaking;      // those that tell somebody of their object
  std::set<MethodId> spare;        // instantiations that are not there to be called
  // Fields that are written when others can see them. Those without a guard that are not among
  // them never change, and lock expressions may use them.
  std::set<const core::Field*> changing;
  // Those that may lead to one object now and to another later; to none is not another.
  std::set<const core::Field*> wandering;
  // What methods leave acquired or released, beyond what they declare.
  std::map<MethodId, std::vector<LockId>> acquires;
  std::map<MethodId, std::vector<LockId>> releases;
  // What is used as a lock somewhere: fields and globals; classes whose objects are; and the fields
  // on the way to those.
  std::set<const core::Field*> lock_fields;
  std::set<std::string> locked_classes;
  std::set<const core::Field*> leading_fields;
  // What methods say is held that nobody ever acquires: not a lock, but the thread or the queue
  // that they run in. The fields, and who says so.
  std::set<const core::Field*> role_fields;
  std::set<MethodLock> roles;

  // Expressions that end with one that changes, but does not wander.
  std::set<LockId> loose;

  bool is_held_as_reader(HoldsId at, LockId lock) const {
    const auto found = (*this)[at].find(lock);
    return found != (*this)[at].end() && found->second.shared;
  }

  // Whether some part of a lock expression does.
  bool is_loose(const Locks& locks, LockId lock) const {
    while (!loose.contains(lock)) {
      if (locks[lock].kind != core::Lock::Kind::kField) return false;
      lock = locks[lock].base;
    }
    return true;
  }

  const Holds& operator[](HoldsId id) const { return holds[static_cast<std::size_t>(id)]; }
};

Flow flow_of(const core::Program& program, Locks& locks, Classes& classes);

}  // namespace tomos::infer
