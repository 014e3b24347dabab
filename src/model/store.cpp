#include "model/store.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

namespace tomos::model {

std::uint64_t hash_of(std::span<const std::uint64_t> state) {
  return XXH3_64bits(state.data(), state.size_bytes());
}

Shard::Shard(std::size_t words, bool compact, Memory& memory)
    : words_(words), kept_(compact ? 1 : words), compact_(compact), memory_(&memory) {}

std::span<const std::uint64_t> Shard::state(std::uint32_t number) const {
  if (!compact_) return {record(number), words_};
  const bool is_next = number >= next_begin_;
  const std::uint32_t at = number - (is_next ? next_begin_ : level_begin_);
  return std::span(is_next ? next_level_ : level_).subspan(at * words_, words_);
}

StateId Shard::parent(std::uint32_t number) const {
  return pieces_[number / kPiece].parents[number % kPiece];
}

void Shard::begin_level() {
  if (!compact_) return;
  memory_->give_back(level_.capacity() * sizeof(std::uint64_t));
  level_ = std::exchange(next_level_, {});
  level_begin_ = std::exchange(next_begin_, size_);
}

void Shard::expect_soon(std::uint64_t hash) const {
  if (slots_.empty()) return;
  for (std::size_t at = place(hash); slots_[at] != 0; at = (at + 1) & (slots_.size() - 1)) {
    if ((slots_[at] & ~kNumberMask) != tag(hash)) continue;
    const std::uint64_t* const kept = record((slots_[at] & kNumberMask) - 1);
    __builtin_prefetch(kept);
    __builtin_prefetch(kept + kept_ - 1);  // it may be on two lines
    return;
  }
}

bool Shard::is(std::uint32_t number, std::span<const std::uint64_t> state,
               std::uint64_t hash) const {
  const std::uint64_t* kept = record(number);
  if (compact_) return *kept == hash;
  std::uint64_t difference = 0;  // a few words: quicker than a call
  for (std::size_t i = 0; i < words_; ++i) difference |= state[i] ^ kept[i];
  return difference == 0;
}

// The table is at most three quarters full.
bool Shard::grow() {
  const std::size_t wider = std::max<std::size_t>(64, 2 * slots_.size());
  if (!memory_->take(wider * sizeof(std::uint32_t))) return false;
  std::vector<std::uint32_t> old(wider, 0);
  old.swap(slots_);
  for (std::uint32_t number = 0; number < size_; ++number) {
    const std::uint64_t hash = compact_ ? *record(number) : hash_of({record(number), words_});
    std::size_t at = place(hash);
    while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = tag(hash) | (number + 1);
  }
  memory_->give_back(old.size() * sizeof(std::uint32_t));
  return true;
}

Shard::Inserted Shard::insert(std::span<const std::uint64_t> state, std::uint64_t hash,
                              StateId parent) {
  if (4 * (std::size_t{size_} + 1) > 3 * slots_.size() && !grow()) return Inserted::kNoRoom;
  std::size_t at = place(hash);
  for (; slots_[at] != 0; at = (at + 1) & (slots_.size() - 1)) {
    const std::uint32_t slot = slots_[at];
    if ((slot & ~kNumberMask) == tag(hash) && is((slot & kNumberMask) - 1, state, hash)) {
      return Inserted::kKnown;
    }
  }
  if (size_ + 1 == kNumberMask) return Inserted::kNoRoom;
  if (size_ % kPiece == 0) {
    const std::size_t bytes = kPiece * (kept_ * sizeof(std::uint64_t) + sizeof(StateId));
    if (!memory_->take(bytes)) return Inserted::kNoRoom;
    pieces_.push_back({.words = std::make_unique_for_overwrite<std::uint64_t[]>(kPiece * kept_),
                       .parents = std::make_unique_for_overwrite<StateId[]>(kPiece)});
  }
  if (compact_) {
    if (next_level_.size() + words_ > next_level_.capacity()) {
      const std::size_t old = next_level_.capacity();
      const std::size_t wider = std::max<std::size_t>(64 * words_, 2 * old);
      if (!memory_->take(wider * sizeof(std::uint64_t))) return Inserted::kNoRoom;
      next_level_.reserve(wider);
      memory_->give_back(old * sizeof(std::uint64_t));
    }
    next_level_.insert(next_level_.end(), state.begin(), state.end());
    *record(size_) = hash;
  } else {
    std::ranges::copy(state, record(size_));
  }
  pieces_.back().parents[size_ % kPiece] = parent;
  slots_[at] = tag(hash) | (size_ + 1);
  ++size_;
  return Inserted::kNew;
}

}  // namespace tomos::model
