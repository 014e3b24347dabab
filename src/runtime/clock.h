// Stamps: one number that orders the events of all threads.
//
// A stamp is the processor's cycle counter, pushed forward where synchronisation demands it:
// whoever sees another thread's release, fork, exit or barrier arrival takes a stamp behind it (a
// Lamport clock whose ticks are real time). So the order of a recording is exact wherever
// synchronisation orders, whatever the counters of different cores say, and as good as the counter
// elsewhere. There is no shared counter: an access costs nobody else anything.
#pragma once

#include <atomic>
#include <cstdint>

namespace tomos::runtime {

using Stamp = std::uint64_t;

inline Stamp ticks() { return __builtin_readcyclecounter(); }

// The last stamp that somebody left at an object. Objects that fall on the same entry only see more
// order than there is.
inline constexpr unsigned kOrderBits = 16;
extern std::atomic<Stamp> order_table[1U << kOrderBits];

inline std::atomic<Stamp>& left_at(std::uintptr_t object) {
  return order_table[(object * 0x9e37'79b9'7f4a'7c15U) >> (64 - kOrderBits)];
}

// What comes after follow() of the same object has a later stamp.
inline void leave(std::uintptr_t object, Stamp stamp) {
  std::atomic<Stamp>& entry = left_at(object);
  Stamp old = entry.load(std::memory_order_relaxed);
  while (old < stamp && !entry.compare_exchange_weak(old, stamp)) {
  }
}

inline Stamp follow(std::uintptr_t object, Stamp stamp) {
  const Stamp behind = left_at(object).load() + 1;
  return stamp < behind ? behind : stamp;
}

}  // namespace tomos::runtime
