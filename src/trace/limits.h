// What a trace may hold at most. Readers refuse more, so that a damaged file cannot make them
// allocate absurdly; writers refuse to make what readers refuse.
#pragma once

#include <cstddef>

namespace tomos {

inline constexpr std::size_t kMaxName = 65535;  // bytes of one name
inline constexpr std::size_t kMaxLine = std::size_t{1}
                                        << 20;  // bytes of a text line, without its end
inline constexpr std::size_t kMaxChunk = std::size_t{16}
                                         << 20;  // bytes of a binary chunk, unpacked
inline constexpr std::size_t kMaxChunkEvents = std::size_t{1} << 20;  // events in one chunk

}  // namespace tomos
