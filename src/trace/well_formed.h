// Whether an event makes sense on its own: an operation that exists, ids that have names. Readers
// check what they read, writers what they are given, with the same words.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "event/error.h"
#include "event/event.h"
#include "event/names.h"

namespace tomos {

class IdLimits {
 public:
  explicit IdLimits(const Names& names)
      : threads_(names.count(NameKind::kThread)), locations_(names.count(NameKind::kLocation)) {
    for (std::size_t op = 0; op < kOpCount; ++op) {
      const NameKind kind = object_kind(static_cast<Op>(op));
      objects_[op] = kind == NameKind::kLocation ? 1 : names.count(kind);
    }
  }

  bool allow(const Event& event) const {
    const auto op = static_cast<std::size_t>(event.op);
    const bool ids = event.thread < threads_ && event.object < objects_[op % objects_.size()] &&
                     ((event.location & kNumericLocation) != 0 || event.location < locations_);
    return op < kOpCount && ids && allows_count(event) && event.spare == 0;
  }

 private:
  static bool allows_count(const Event& event) {
    if (event.op == Op::kBarrier) return event.count != 0;
    const bool can_try = event.op == Op::kAcquire || event.op == Op::kReadAcquire;
    return event.count == 0 || (can_try && event.count == 1);
  }

  std::uint32_t threads_;
  std::uint32_t locations_;
  std::array<std::uint32_t, std::bit_ceil(kOpCount)> objects_ = {};
};

// For writers. `written` counts the events before `events`.
Result<void> check_events(std::span<const Event> events, const Names& names,
                          const std::string& output, std::uint64_t written);

// The ids below `known` have been checked; checks the others and counts them as known.
using KnownNames = std::array<std::uint32_t, kNameKindCount>;
inline constexpr KnownNames kImplicitNames = {0, 0, 0, 0, 1, 1};  // label 0 and location 0
Result<void> check_new_names(const Names& names, KnownNames& known, const std::string& output);

}  // namespace tomos
