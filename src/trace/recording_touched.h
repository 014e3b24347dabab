// The accesses of a kTouched record, as rows of neighbouring elements.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "trace/recording_format.h"

namespace tomos::recording {

class TouchedRows {
 public:
  // A row of `count` elements from `element`.
  struct Row {
    bool writes = false;
    bool again = false;  // one more access to each of them
    std::size_t element = 0;
    std::size_t count = 0;
  };

  // `extra` are the slots behind the first.
  explicit TouchedRows(const Slot* extra) : extra_(extra) {}

  std::uint64_t pc(bool writes) const { return writes ? extra_->b : extra_->a; }

  // The next row: reads before writes; false at the end.
  bool next(Row& row) {
    while (bitmap_ < 4) {
      const std::size_t first = find(at_, true);
      if (first == kTouchedElements) {
        ++bitmap_;
        at_ = 0;
        continue;
      }
      at_ = find(first, false);
      row = {.writes = bitmap_ >= 2,
             .again = bitmap_ % 2 == 1,
             .element = first,
             .count = at_ - first};
      return true;
    }
    return false;
  }

 private:
  // The first element at or behind `from` whose bit is `wanted`.
  std::size_t find(std::size_t from, bool wanted) const {
    while (from < kTouchedElements) {
      const std::uint64_t word = wanted ? bits(from / 64) : ~bits(from / 64);
      const std::uint64_t rest = word >> (from % 64);
      if (rest != 0) return from + static_cast<std::size_t>(std::countr_zero(rest));
      from = (from / 64 + 1) * 64;
    }
    return kTouchedElements;
  }
  std::uint64_t bits(std::size_t word) const {
    word += bitmap_ * (kTouchedElements / 64);
    const Slot& slot = extra_[1 + word / 2];
    return word % 2 == 0 ? slot.a : slot.b;
  }

  const Slot* extra_;
  std::size_t bitmap_ = 0;
  std::size_t at_ = 0;
};

}  // namespace tomos::recording
