// What it would mean for a method to require a lock: which of its callers hold it, which would have
// to require it themselves, and which can do neither. Requirements are made when somebody asks for
// them, and then those of the callers; what overrides a method requires nothing that the method
// does not. A method that writes requires the lock as a writer: callers that hold it as readers do
// not do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/program.h"
#include "infer/classes.h"
#include "infer/conditional.h"
#include "infer/discipline.h"
#include "infer/flow.h"

namespace tomos::infer {

class Requirements {
 public:
  Requirements(Locks& locks, Classes& classes, const Flow& flow);

  enum class Status : std::uint8_t { kHeld, kIfRequired, kBroken };
  // Of a lock at a place in a method.
  Status status(MethodId method, const Holds& holds, LockId lock) const;

  // The same of a lock whose object may be one that nobody can follow. If such a lock of any object
  // is held, it will be that object's; if not, the callers may hold it.
  struct Known {
    Status status = Status::kBroken;
    LockId lock = Locks::kUnknown;  // to be required
  };
  Known known(MethodId method, const Holds& holds, LockId lock, std::optional<LockId> any) const;

  // The lock of the object that an object belongs to, by way of the object's pointer back to it: if
  // that lock of some such object is held, it is this one.
  bool is_held_by_owner(const Holds& holds, LockId lock) const;

  struct Key {
    MethodId method = kMain;
    LockId lock = Locks::kUnknown;
    bool as_writer = false;  // beside the same without, which follows from it

    friend auto operator<=>(const Key&, const Key&) = default;
  };
  // The index of the requirement. Only of what can be required.
  std::size_t require(Key key);
  // Whether somebody asked what it would mean.
  bool was_considered(const Key& key) const { return ids_.contains(key); }
  // Something else that has its price once, however many options need it; of no method.
  std::size_t premise(std::int64_t cost);
  // Those of callers, and theirs: all that follow from those asked for.
  void expand();

  // The locks that all callers of each method hold and that need no object to be named: nobody has
  // to be asked to require them for that to be worth a thought.
  std::vector<std::set<LockId>> held_at_entry() const;

  // The methods that hold such a lock where a place is reached: this one, or those that call it,
  // and so on.
  void add_holders(MethodId method, const Holds& holds, LockId lock, std::set<MethodId>& to) const;
  // Whether some caller of the method holds it, or a caller's caller, and so on.
  bool is_reached_under(MethodId method, LockId lock);

  std::vector<Discipline::Requirement>& list() { return list_; }
  const Key& key(std::size_t index) const { return keys_[index]; }
  // Whether somebody who calls it holds the lock, or says so.
  std::vector<bool> has_evidence() const;
  // Of a large program nearly all are of no use: no caller holds the lock, nor any caller's caller.
  // Those go, and whoever needs one pays for the lack of it. What is left of `needs` is worth
  // solving; the price of the rest is the result.
  void drop_hopeless(const std::vector<bool>& evidence);
  std::int64_t fold(std::vector<Discipline::Need>& needs) const;

  // The calls that it is about and that could break it, with what they would have to require.
  struct Use {
    const CallSite* site = nullptr;
    Status status = Status::kHeld;
    std::size_t required = 0;
  };
  const std::vector<Use>& uses(std::size_t index) const { return uses_[index]; }

  bool can_require(MethodId method, LockId lock) const;

 private:
  bool can_name(MethodId method, LockId lock) const;
  std::optional<LockId> of_any(MethodId method, LockId lock) const;
  bool is_global(LockId lock) const;
  bool is_of_object(MethodId method, LockId lock) const;
  std::vector<const CallSite*> find_sites(MethodId method) const;
  const std::vector<const CallSite*>& sites_of(MethodId method) const {
    return sites_[static_cast<std::size_t>(method)];
  }
  std::int64_t cost(MethodId method, LockId lock) const;
  bool is_declared(MethodId method, LockId lock) const;
  void find_back_pointers();
  void drop_unheeded();
  void expand(std::size_t index);
  std::vector<const CallSite*> unknowing_calls(MethodId method, LockId lock);
  void above(std::size_t index);
  LockId seen_from(MethodId overriding, MethodId overridden, LockId lock);

  Locks& locks_;
  Classes& classes_;
  const Flow& flow_;
  std::map<MethodId, std::vector<const CallSite*>> calls_;
  std::map<MethodId, std::vector<MethodId>> overridden_;  // by each method
  std::set<std::string> back_pointers_;                   // names of fields
  std::vector<std::vector<const CallSite*>> sites_;       // of each method, be it as an override
  std::map<LockId, std::vector<bool>> reached_under_;     // which methods
  std::set<MethodId> forked_;
  std::set<MethodId> called_;           // perhaps as an override
  std::set<std::string> with_readers_;  // names of locks that somebody holds as a reader
  std::map<Key, std::size_t> ids_;
  std::vector<Key> keys_;
  std::vector<Discipline::Requirement> list_;
  std::vector<std::vector<Use>> uses_;
  std::vector<bool> held_somewhere_;
  std::vector<bool> hopeless_;
  std::size_t expanded_ = 0;
};

}  // namespace tomos::infer
