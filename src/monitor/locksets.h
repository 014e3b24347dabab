// The locks a thread holds, as a number that can be kept beside every access.
//
// Most critical sections hold one lock, so a set of one lock is its own number and costs nothing;
// sets of several are interned. A monitor that forgets accesses calls collect() now and then, so
// that the table does not outgrow them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "event/event.h"

namespace tomos {

using LocksetId =
    std::uint32_t;  // 0: no lock; top bit: the one lock in the lower bits; else an index

// A lock and how it is held, for those who care: two threads may hold a lock at once if both only
// read. Locksets of these work like any others.
using ModeLock = std::uint32_t;
constexpr ModeLock mode_lock(LockId lock, bool reads) { return (lock << 1U) | (reads ? 1U : 0U); }
constexpr LockId lock_of(ModeLock lock) { return lock >> 1U; }
constexpr bool only_reads(ModeLock lock) { return (lock & 1U) != 0; }

class Locksets {
 public:
  // `limit`: so many may be kept before the first search for those not needed.
  explicit Locksets(std::size_t limit = std::size_t{1} << 16U)
      : limit_(limit), collect_at_(limit) {}

  LocksetId intern(std::vector<LockId> locks);  // in any order, without repetition
  LocksetId intern_one(LockId lock);
  std::vector<LockId> locks(LocksetId id) const;

  // Of sets of mode locks: whether no two threads can hold the one and the other at the same time.
  bool exclude(LocksetId a, LocksetId b) const;
  // The locks in both, for reading only where one of them has it for reading only.
  LocksetId common(LocksetId a, LocksetId b);

  // Forgets every set of several locks whose entry in `used` (indexed by LocksetId) is false. Ids
  // stay.
  void collect(const std::vector<bool>& used);
  bool wants_collection() const { return live_ > collect_at_; }
  std::size_t ids() const { return sets_.size(); }

 private:
  // The set; `one` is where a set of one lock is put.
  std::span<const LockId> view(LocksetId id, LockId& one) const;
  std::size_t find(const std::vector<LockId>& locks) const;
  void rehash();

  std::vector<std::vector<LockId>> sets_ = {{}};  // by id; [0] is the empty set
  std::vector<LocksetId> free_;
  std::vector<LocksetId> slots_ = std::vector<LocksetId>(64, 0);  // open addressing over sets_
  std::size_t live_ = 0;
  std::size_t limit_;
  std::size_t collect_at_;
};

// What one thread holds at the moment.
class HeldLocks {
 public:
  // Whether this is the outermost acquire, or release, of the lock.
  bool acquire(LockId lock);
  bool release(LockId lock);

  LocksetId id(Locksets& sets) const {
    if (stale_) refresh(sets);
    return id_;
  }

 private:
  struct Held {
    LockId lock;
    std::uint32_t depth;
  };
  void refresh(Locksets& sets) const;

  std::vector<Held> held_;
  mutable LocksetId id_ = 0;
  mutable bool stale_ = false;
};

}  // namespace tomos
