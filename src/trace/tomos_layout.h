// The layout of .tomos files, shared by reader and writer; docs/trace-format.md tells it in words.
// Everything is little-endian.
//
//   file  = magic, u32 version, chunk...
//   chunk = u64 checksum, u8 type, u8 encoding, u16 zero, u32 stored size, u32 raw size, u32 count,
//   payload
//
// The checksum is XXH3-64 over the chunk from `type` to its last byte, seeded with the chunk's
// number (from 0), so a chunk that is lost, doubled or moved is noticed like one that is changed.
#pragma once

#include <xxhash.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "event/names.h"
#include "trace/tomos_format.h"

namespace tomos::layout {

static_assert(std::endian::native == std::endian::little, "integers are copied as they are");

inline constexpr std::size_t kFileHead = 12;

enum class ChunkType : std::uint8_t { kNames = 1, kEvents = 2, kEnd = 3 };
enum class Encoding : std::uint8_t { kStored = 0, kZstd = 1 };

struct ChunkHead {
  std::uint64_t checksum;
  ChunkType type;
  Encoding encoding;
  std::uint16_t zero;
  std::uint32_t stored_size;
  std::uint32_t raw_size;
  std::uint32_t count;
};
static_assert(sizeof(ChunkHead) == 24 && offsetof(ChunkHead, type) == 8);

// Names: this, then `count` times u16 length and bytes, ids counting up from first_id. Always
// stored: a names chunk outlives its reading, so a few bytes of file must not stand for a lot of
// memory.
struct NamesHead {
  NameKind kind;
  std::uint8_t zero[3];
  std::uint32_t first_id;
};
static_assert(sizeof(NamesHead) == 8);

// Events: this, then the columns in this order. A column's items take 0, 1, 2 or 4 bytes; 0 bytes:
// all are zero. Locations are rotated left by one bit, which makes the numeric ones (top bit set)
// small.
enum Column : std::uint8_t { kOps, kThreads, kObjects, kLocations, kCounts };
inline constexpr std::size_t kColumns = 5;
inline constexpr std::uint8_t kWidest[kColumns] = {1, 4, 4, 4, 2};
struct EventsHead {
  std::uint8_t widths[kColumns];
  std::uint8_t zero[3];
};
static_assert(sizeof(EventsHead) == 8);

// End: the totals of the file. The names that exist without being declared (label 0, location 0)
// are not counted.
struct End {
  std::uint64_t events;
  std::uint32_t names[kNameKindCount];

  friend bool operator==(const End&, const End&) = default;
};
static_assert(sizeof(End) == 32);

inline std::uint64_t checksum(std::string_view chunk, std::uint64_t number) {
  constexpr std::size_t kFrom = offsetof(ChunkHead, type);
  return XXH3_64bits_withSeed(chunk.data() + kFrom, chunk.size() - kFrom, number);
}

// The first bytes of `from`, which has enough of them.
template <class T>
T load(std::string_view from) {
  T value;
  std::memcpy(&value, from.data(), sizeof(value));
  return value;
}

}  // namespace tomos::layout
