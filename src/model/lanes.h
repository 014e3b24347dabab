// Four neighbouring values of a state as one word, so that they are dealt with at once. The first
// is in the lowest bits.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "model/program.h"

namespace tomos::model {

static_assert(std::endian::native == std::endian::little, "or the first is in the highest bits");

inline constexpr std::size_t kLanes = 4;
inline constexpr std::uint64_t kLaneOnes = 0x0001'0001'0001'0001U;  // a bit of each

inline std::uint64_t lanes(const Value* values) {
  std::uint64_t word = 0;
  std::memcpy(&word, values, sizeof(word));
  return word;
}
inline void set_lanes(Value* values, std::uint64_t word) {
  std::memcpy(values, &word, sizeof(word));
}

}  // namespace tomos::model
