// The basic atomicities (Flanagan, Freund and Lifshin, section 3.1), and the two halves of an
// atomic step that a lock and its unlock are when they stand apart: the paper's synchronized blocks
// never show them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tomos::core {

enum class Basic : std::uint8_t { kConst, kMover, kLeft, kRight, kAtomic, kCompound, kError };

inline constexpr std::array<std::string_view, 7> kBasicNames = {"const",  "mover", "left", "right",
                                                                "atomic", "cmpd",  "error"};

constexpr std::string_view to_string(Basic basic) {
  return kBasicNames[static_cast<std::size_t>(basic)];
}

constexpr std::optional<Basic> basic_of(std::string_view name) {
  for (std::size_t i = 0; i < kBasicNames.size(); ++i) {
    if (kBasicNames[i] == name) return static_cast<Basic>(i);
  }
  return std::nullopt;
}

}  // namespace tomos::core
