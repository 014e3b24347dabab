// A cell: what the runtime knows of eight bytes of the program's memory, in one word.
//
//   untouched   nobody has touched it since it was mapped, allocated or freed
//   ignored     the project file says not to look at it
//   local       only one thread can reach it: that thread's number
//   shared      it has escaped. Exclusive: all accesses since `version` were by one thread, whose
//               number it holds. Read-shared: since `version` several threads read, and nobody
//               wrote
//
// The version of a shared cell grows with every change of hands, so a thread that finds the cell as
// it left it knows that nobody else has made a conflicting access in between. Versions follow the
// clock (coarsely), which keeps them from repeating when memory is freed and used again.
#pragma once

#include <cstdint>

#include "runtime/clock.h"

namespace tomos::runtime {

using Cell = std::uint64_t;

inline constexpr Cell kUntouched = 0;
inline constexpr Cell kIgnored = 1;
inline constexpr Cell kNoCell = ~Cell{0};  // no cell has this value
inline constexpr Cell kShared = 1ULL << 63;
inline constexpr Cell kReadShared = 1ULL << 62;
inline constexpr unsigned kOwnerShift = 42;
inline constexpr std::uint32_t kMaxThreads = 1U << 20;
inline constexpr Cell kOwnerMask = static_cast<Cell>(kMaxThreads - 1) << kOwnerShift;
inline constexpr Cell kVersionMask = (1ULL << kOwnerShift) - 1;
// Ticks a version: fewer than it takes to free memory, get it again and share it.
inline constexpr unsigned kVersionShift = 7;

constexpr Cell local_to(std::uint32_t thread) { return static_cast<Cell>(thread) << 1 | 1U << 30; }
constexpr bool is_local(Cell cell) { return (cell & kShared) == 0 && cell > kIgnored; }
constexpr std::uint32_t local_owner(Cell cell) {
  return static_cast<std::uint32_t>(cell >> 1) & (kMaxThreads - 1);
}
constexpr bool is_shared(Cell cell) { return (cell & kShared) != 0; }
constexpr std::uint32_t shared_owner(Cell cell) {
  return static_cast<std::uint32_t>((cell & kOwnerMask) >> kOwnerShift);
}
constexpr bool is_exclusive_to(Cell cell, std::uint32_t thread) {
  return (cell & (kShared | kReadShared | kOwnerMask)) ==
         (kShared | static_cast<Cell>(thread) << kOwnerShift);
}

constexpr Cell shared_exclusive(std::uint32_t thread, std::uint64_t version) {
  return kShared | static_cast<Cell>(thread) << kOwnerShift | (version & kVersionMask);
}

// The version that follows `cell` at time `now`.
constexpr std::uint64_t next_version(Cell cell, Stamp now) {
  const std::uint64_t next = (cell & kShared) != 0 ? (cell & kVersionMask) + 1 : 1;
  const std::uint64_t clock = (now >> kVersionShift) & kVersionMask;
  return next < clock ? clock : next;
}

// The cell after an access by `thread` to a shared cell.
constexpr Cell after_access(Cell cell, std::uint32_t thread, bool write, Stamp now) {
  if (is_exclusive_to(cell, thread)) return cell;
  if (write) return shared_exclusive(thread, next_version(cell, now));
  if ((cell & kReadShared) != 0) return cell;
  return kShared | kReadShared | (next_version(cell, now) & kVersionMask);
}

// The version of a cell that an access by `thread` leaves as it is; if it does not, more than any.
// `by_all`: nobody asks who was there last, and only what is not shared yet changes.
constexpr std::uint64_t version_without_change(Cell cell, std::uint32_t thread, bool write,
                                               bool by_all) {
  if (by_all && is_shared(cell)) return cell & kVersionMask;
  const std::uint64_t own = cell - shared_exclusive(thread, 0);
  if (own <= kVersionMask || write) return own;
  return cell - (kShared | kReadShared);
}

}  // namespace tomos::runtime
