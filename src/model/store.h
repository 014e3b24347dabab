// The states that have been met, each with the one it was first reached from.
//
// They are spread over shards by their hash, so that several threads can work on several shards
// without asking each other. A shard keeps its states in the order of their coming, in pieces that
// never move, and finds them by an open-addressing table of numbers. With hash compaction it keeps
// only a 64-bit hash of a state; then the states of the last two levels are kept aside.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tomos::model {

using StateId = std::uint32_t;  // number in its shard * kShards + shard
inline constexpr std::size_t kShards = 16;
inline constexpr StateId kNoState = ~StateId{0};

// What all shards may take together.
class Memory {
 public:
  explicit Memory(std::uint64_t limit) : limit_(limit) {}
  // Whether there was room for it.
  bool take(std::uint64_t bytes) {
    if (used_.fetch_add(bytes) + bytes <= limit_) return true;
    used_.fetch_sub(bytes);
    return false;
  }
  void give_back(std::uint64_t bytes) { used_.fetch_sub(bytes); }
  std::uint64_t used() const { return used_; }

 private:
  std::uint64_t limit_;
  std::atomic<std::uint64_t> used_ = 0;
};

class Shard {
 public:
  Shard(std::size_t words, bool compact, Memory& memory);

  enum class Inserted : std::uint8_t { kNew, kKnown, kNoRoom };
  Inserted insert(std::span<const std::uint64_t> state, std::uint64_t hash, StateId parent);

  // States up to `size()` have numbers from 0.
  std::uint32_t size() const { return size_; }
  // Only of the last two levels if compact.
  std::span<const std::uint64_t> state(std::uint32_t number) const;
  StateId parent(std::uint32_t number) const;
  // From here on a new level begins.
  void begin_level();

  // Whether `number` is this state, as far as the shard can tell.
  bool is(std::uint32_t number, std::span<const std::uint64_t> state, std::uint64_t hash) const;

  // insert() will be called with this hash: first its place in the table is fetched, then the state
  // that is likely to be compared.
  void expect(std::uint64_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[place(hash)]);
  }
  void expect_soon(std::uint64_t hash) const;

 private:
  static constexpr std::uint32_t kPiece = 512;      // states in a piece
  static constexpr std::uint32_t kNumberBits = 26;  // of a slot; the rest is a tag from the hash
  static constexpr std::uint32_t kNumberMask = (1U << kNumberBits) - 1;

  struct Piece {
    std::unique_ptr<std::uint64_t[]> words;
    std::unique_ptr<StateId[]> parents;
  };
  std::size_t place(std::uint64_t hash) const { return (hash >> 10U) & (slots_.size() - 1); }
  static std::uint32_t tag(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash >> (64 - (32 - kNumberBits))) << kNumberBits;
  }
  std::uint64_t* record(std::uint32_t number) const {
    return pieces_[number / kPiece].words.get() + std::size_t{number % kPiece} * kept_;
  }
  bool grow();

  std::size_t words_;
  std::size_t kept_;  // words of a record
  bool compact_;
  Memory* memory_;
  std::uint32_t size_ = 0;
  std::vector<Piece> pieces_;
  std::vector<std::uint32_t> slots_;  // tag, and number + 1; 0: empty
  // If compact: the states of the level that is expanded, and of the next.
  std::vector<std::uint64_t> level_;
  std::vector<std::uint64_t> next_level_;
  std::uint32_t level_begin_ = 0;
  std::uint32_t next_begin_ = 0;
};

std::uint64_t hash_of(std::span<const std::uint64_t> state);

}  // namespace tomos::model
