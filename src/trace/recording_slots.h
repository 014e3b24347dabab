// How long the records in a recording are, and whether they make sense on their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "trace/recording_format.h"

namespace tomos::recording {

inline constexpr std::uint64_t kAddressEnd = std::uint64_t{1} << 48;
// Of one kReadRun or kWriteRun; each of them becomes an event.
inline constexpr std::uint64_t kMaxRun = std::uint64_t{1} << 32;

constexpr bool range_fits(std::uint64_t first, std::uint64_t length) {
  return length <= kAddressEnd - first;
}

constexpr bool run_fits(std::uint64_t first, std::uint64_t count, std::int64_t stride) {
  const auto limit = static_cast<std::int64_t>(kAddressEnd);
  if (count > kMaxRun || stride > limit || stride < -limit) return false;
  const auto last = static_cast<__int128>(first) + static_cast<__int128>(stride) * count;
  return last >= 0 && last <= limit;
}

// The part of record_size() that is not called for every single access.
inline std::size_t long_record_size(std::span<const Slot> slots) {
  const auto fixed = [&slots](std::size_t size) { return size <= slots.size() ? size : 0; };
  const auto text = [&slots](std::size_t at) -> std::size_t {
    if (at >= slots.size()) return 0;
    const std::uint64_t bytes = slots[at].b;
    if (bytes > (slots.size() - at - 1) * sizeof(Slot)) return 0;
    return at + 1 + (bytes + sizeof(Slot) - 1) / sizeof(Slot);
  };
  const std::uint64_t value = value_of(slots[0].a);
  switch (op_of(slots[0].a)) {
    case Op::kNone:
      return 0;
    case Op::kThread:
    case Op::kTime:
    case Op::kRead:
    case Op::kWrite:
    case Op::kAtomicRead:
    case Op::kAtomicWrite:
    case Op::kAtomicUpdate:
    case Op::kAcquire:
    case Op::kRelease:
    case Op::kReadAcquire:
    case Op::kReadRelease:
    case Op::kDestroy:
    case Op::kFork:
    case Op::kJoin:
    case Op::kBegin:
    case Op::kEnd:
    case Op::kExit:
    case Op::kSignal:
    case Op::kWait:
      return 1;
    case Op::kReadRange:
    case Op::kWriteRange:
    case Op::kFree:
      return slots.size() >= 2 && range_fits(value, slots[1].a) ? 2 : 0;
    case Op::kReadRun:
    case Op::kWriteRun:
      return slots.size() >= 2 && run_fits(value, slots[1].a, static_cast<std::int64_t>(slots[1].b))
                 ? 2
                 : 0;
    case Op::kTouched:
      return range_fits(value, kTouchedElements * small_of(slots[0].a)) ? fixed(1 + kTouchedSlots)
                                                                        : 0;
    case Op::kBarrier:
      return fixed(2);
    case Op::kObject:
      return slots.size() >= 3 && range_fits(value, slots[1].a) ? 3 : 0;
    case Op::kStack:
      return fixed(1 + (small_of(slots[0].a) + std::size_t{1}) / 2);
    case Op::kLabel:
    case Op::kThreadName:
    case Op::kNote:
      return text(1);
    case Op::kModule:
      return text(2);
  }
  return 0;
}

// How many slots the record at the start of `slots` takes; 0 if it makes no sense, or ends behind
// them.
inline std::size_t record_size(std::span<const Slot> slots) {
  const Op op = op_of(slots[0].a);
  if (op == Op::kRead || op == Op::kWrite) [[likely]]
    return 1;
  return long_record_size(slots);
}

// The text of a record that has passed record_size(): it stands behind `head`, which tells its
// size.
inline std::string_view text_behind(const Slot* head) {
  return {reinterpret_cast<const char*>(head + 1), head->b};
}

}  // namespace tomos::recording
