#include "monitor/locksets.h"

#include <algorithm>
#include <utility>

namespace tomos {

namespace {

constexpr LocksetId kOneLock = 0x8000'0000U;

std::uint64_t hash(const std::vector<LockId>& locks) {
  std::uint64_t h = locks.size();
  for (const LockId lock : locks) {
    h = (h ^ lock) * 0x9e37'79b9'7f4a'7c15U;
    h ^= h >> 29U;
  }
  return h;
}

}  // namespace

std::size_t Locksets::find(const std::vector<LockId>& locks) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = hash(locks) & mask;
  while (slots_[i] != 0 && sets_[slots_[i]] != locks) i = (i + 1) & mask;
  return i;
}

void Locksets::rehash() {
  std::size_t size = 64;
  while (size < 4 * (live_ + 1)) size *= 2;
  slots_.assign(size, 0);
  for (LocksetId id = 1; id < sets_.size(); ++id) {
    if (!sets_[id].empty()) slots_[find(sets_[id])] = id;
  }
}

LocksetId Locksets::intern_one(LockId lock) {
  return lock < kOneLock ? kOneLock | lock : intern({lock});
}

LocksetId Locksets::intern(std::vector<LockId> locks) {
  if (locks.empty()) return 0;
  if (locks.size() == 1 && locks[0] < kOneLock) return kOneLock | locks[0];
  std::ranges::sort(locks);
  std::size_t slot = find(locks);
  if (slots_[slot] != 0) return slots_[slot];
  if (slots_.size() < 2 * (live_ + 1)) {
    rehash();
    slot = find(locks);
  }
  LocksetId id = 0;
  if (free_.empty()) {
    id = static_cast<LocksetId>(sets_.size());
    sets_.push_back(std::move(locks));
  } else {
    id = free_.back();
    free_.pop_back();
    sets_[id] = std::move(locks);
  }
  slots_[slot] = id;
  ++live_;
  return id;
}

std::vector<LockId> Locksets::locks(LocksetId id) const {
  if ((id & kOneLock) != 0) return {id & ~kOneLock};
  return sets_[id];
}

std::span<const LockId> Locksets::view(LocksetId id, LockId& one) const {
  if ((id & kOneLock) == 0) return sets_[id];
  one = id & ~kOneLock;
  return {&one, 1};
}

bool Locksets::exclude(LocksetId a, LocksetId b) const {
  LockId one_a = 0;
  LockId one_b = 0;
  const std::span<const LockId> first = view(a, one_a);
  const std::span<const LockId> second = view(b, one_b);
  for (std::size_t i = 0, j = 0; i < first.size() && j < second.size();) {
    if (lock_of(first[i]) == lock_of(second[j])) {
      if (!only_reads(first[i]) || !only_reads(second[j])) return true;
      ++i;
      ++j;
    } else {
      ++(first[i] < second[j] ? i : j);
    }
  }
  return false;
}

LocksetId Locksets::common(LocksetId a, LocksetId b) {
  if (a == b) return a;
  LockId one_a = 0;
  LockId one_b = 0;
  const std::span<const LockId> first = view(a, one_a);
  const std::span<const LockId> second = view(b, one_b);
  // Most often it is one of the two, or a single lock, and nothing has to be interned.
  std::size_t count = 0;
  std::size_t of_first = 0;
  std::size_t of_second = 0;
  LockId last = 0;
  const auto for_each = [&](auto visit) {
    for (std::size_t i = 0, j = 0; i < first.size() && j < second.size();) {
      if (lock_of(first[i]) == lock_of(second[j])) {
        visit(first[i++], second[j++]);
      } else {
        ++(first[i] < second[j] ? i : j);
      }
    }
  };
  for_each([&](LockId one, LockId other) {
    last = one | other;
    ++count;
    of_first += last == one ? 1 : 0;
    of_second += last == other ? 1 : 0;
  });
  if (count == 0) return 0;
  if (of_first == first.size()) return a;
  if (of_second == second.size()) return b;
  if (count == 1) return intern_one(last);
  std::vector<LockId> both;
  for_each([&](LockId one, LockId other) { both.push_back(one | other); });
  return intern(std::move(both));
}

void Locksets::collect(const std::vector<bool>& used) {
  for (LocksetId id = 1; id < sets_.size(); ++id) {
    if (sets_[id].empty() || (id < used.size() && used[id])) continue;
    sets_[id] = {};
    free_.push_back(id);
    --live_;
  }
  collect_at_ = std::max(limit_, 2 * live_);
  rehash();
}

bool HeldLocks::acquire(LockId lock) {
  for (Held& held : held_) {
    if (held.lock == lock) {
      ++held.depth;
      return false;
    }
  }
  held_.push_back({.lock = lock, .depth = 1});
  stale_ = true;
  return true;
}

bool HeldLocks::release(LockId lock) {
  // The lock taken last is usually the one given back first.
  for (std::size_t i = held_.size(); i-- > 0;) {
    if (held_[i].lock != lock) continue;
    if (--held_[i].depth > 0) return false;
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
    stale_ = true;
    return true;
  }
  return false;
}

void HeldLocks::refresh(Locksets& sets) const {
  stale_ = false;
  if (held_.empty()) {
    id_ = 0;
  } else if (held_.size() == 1 && held_[0].lock < kOneLock) {
    id_ = kOneLock | held_[0].lock;
  } else {
    std::vector<LockId> locks;
    locks.reserve(held_.size());
    for (const Held& held : held_) locks.push_back(held.lock);
    id_ = sets.intern(std::move(locks));
  }
}

}  // namespace tomos
