// Which transactions need not be recorded when their order does not matter: those that the thread
// has on record already.
//
// Some analyses ask what transactions there are and what could run beside what, not in what order
// things ran (blocks, reduction, lock-order). To them a transaction that is the same step by step
// as an earlier one of its thread (places, variables, locks, locks held when it began), between the
// same forks, joins, barriers and signals, is no news. If they are all that is asked for, the
// recorder takes such a transaction back when it ends. An access outside transactions is a
// transaction of its own.
//
// Transactions are known by 64-bit fingerprints, of which the table for many keeps 48 bits and the
// place: of a million different ones, two fall together with a probability of about 1 in 10
// million.
//
// The same code decides in the oracle test that compares every verdict with and without it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tomos::runtime {

constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9e37'79b9'7f4a'7c15U;
  hash = (hash ^ hash >> 32) * 0xd6e8'feb8'6659'fd93U;
  return hash ^ hash >> 32;
}

// Two words at once, and less well mixed: for what is mixed many times.
constexpr std::uint64_t stirred(std::uint64_t hash, std::uint64_t a, std::uint64_t b) {
  b *= 0xd6e8'feb8'6659'fd93U;
  hash = (hash ^ (a * 0x9e37'79b9'7f4a'7c15U + (b << 32 | b >> 32))) * 0xa076'1d64'78bd'642fU;
  return hash ^ hash >> 29;
}

// Memory that is freed and used again is another variable: for each line of 64 bytes, which of all
// ends of lives was its last. Lines that fall on the same entry only look newer than they are.
class Lives {
 public:
  std::uint32_t of(std::uint64_t address) const {
    return last_[line(address)].load(std::memory_order_relaxed);
  }
  // Whether a life ended there after so many ends of any.
  bool ended_since(std::uint64_t ends, std::uint64_t address) const {
    return static_cast<std::int32_t>(of(address) - static_cast<std::uint32_t>(ends)) > 0;
  }
  void end(std::uint64_t start, std::uint64_t size) {
    const std::uint64_t last = (start + (size == 0 ? 0 : size - 1)) >> kLineBits;
    std::uint64_t at = start >> kLineBits;
    if (last - at >= kEntries) at = last - kEntries + 1;
    const auto now = static_cast<std::uint32_t>(ends_.fetch_add(1, std::memory_order_relaxed) + 1);
    for (; at <= last; ++at) last_[at % kEntries].store(now, std::memory_order_relaxed);
  }
  // How often any life has ended.
  std::uint64_t ends() const { return ends_.load(std::memory_order_relaxed); }

 private:
  static constexpr unsigned kLineBits = 6;
  static constexpr std::uint64_t kEntries = 1U << 14;
  static std::uint64_t line(std::uint64_t address) { return (address >> kLineBits) % kEntries; }
  std::atomic<std::uint64_t> ends_;
  std::atomic<std::uint32_t> last_[kEntries];
};

// Fingerprints of all threads, for when they are many. Threads that do the same work run the same
// transactions: a fingerprint stands here once, with a bit for each thread of a group.
//
// Nobody waits: a word is read, or exchanged by one atomic operation, and if that fails it is not
// kept. When a table is full the next is twice as large, and what is found only in the one before
// moves on. A fingerprint that is not kept, or had to make room for another, at worst is recorded
// once more. Memory comes from `Pages`: words of zeros, or nullptr if there are none.
template <class Pages, unsigned kSmallestBits, unsigned kLargestBits>
class Crowd {
 public:
  static constexpr std::uint32_t kGroup = 16;

  // Whether it is the first of its kind for this member of its group.
  bool add(std::uint64_t fingerprint, std::uint32_t member) {
    const std::uint64_t tag = tag_of(fingerprint);
    const std::uint64_t bit = 1ULL << member;
    unsigned level = level_.load(std::memory_order_acquire);
    std::uint64_t* slot = find(level, fingerprint);
    if (slot == nullptr && is_full(level) && grow(level)) slot = find(++level, fingerprint);
    if (slot == nullptr) {
      if (level == 0) return true;
      slot = bucket(level, fingerprint) + (fingerprint >> kGroup) % kBucket;
    }
    const std::atomic_ref word(*slot);
    std::uint64_t old = word.load(std::memory_order_relaxed);
    const bool found = (old & ~kMembers) == tag;
    if (found && (old & bit) != 0) return false;
    const std::uint64_t before = found ? old : members(level - 1, fingerprint);
    if (old == 0) tables_[level].count.fetch_add(1, std::memory_order_relaxed);
    word.compare_exchange_strong(old, tag | before | bit, std::memory_order_relaxed);
    return (before & bit) == 0;
  }

  // add() will be called soon.
  void fetch(std::uint64_t fingerprint) const {
    const unsigned level = level_.load(std::memory_order_acquire);
    if (level != 0) __builtin_prefetch(bucket(level, fingerprint));
  }

 private:
  static constexpr std::size_t kBucket = 8;  // a line of the cache
  static constexpr std::uint64_t kMembers = (1ULL << kGroup) - 1;
  static constexpr unsigned kLevels = kLargestBits - kSmallestBits + 1;

  // The bits that make room for the members' choose the bucket.
  static std::uint64_t tag_of(std::uint64_t fingerprint) {
    const std::uint64_t tag = fingerprint & ~kMembers;
    return tag != 0 ? tag : 1ULL << kGroup;
  }
  // Level 0 is nothing.
  static std::size_t capacity(unsigned level) {
    return std::size_t{1} << (kSmallestBits + level - 1);
  }
  bool is_full(unsigned level) const {
    return level == 0 ||
           tables_[level].count.load(std::memory_order_relaxed) >= capacity(level) / 2;
  }

  std::uint64_t* bucket(unsigned level, std::uint64_t fingerprint) const {
    return tables_[level].words.load(std::memory_order_acquire) +
           (fingerprint * kBucket & (capacity(level) - 1));
  }
  // Where it is, or else where there is room in its bucket; nullptr: nowhere.
  std::uint64_t* find(unsigned level, std::uint64_t fingerprint) const {
    if (level == 0) return nullptr;
    std::uint64_t* const first = bucket(level, fingerprint);
    for (std::uint64_t* slot = first; slot < first + kBucket; ++slot) {
      const std::uint64_t word = std::atomic_ref(*slot).load(std::memory_order_relaxed);
      if ((word & ~kMembers) == tag_of(fingerprint) || word == 0) return slot;
    }
    return nullptr;
  }
  std::uint64_t members(unsigned level, std::uint64_t fingerprint) const {
    std::uint64_t* const slot = find(level, fingerprint);
    if (slot == nullptr) return 0;
    const std::uint64_t word = std::atomic_ref(*slot).load(std::memory_order_relaxed);
    return (word & ~kMembers) == tag_of(fingerprint) ? word & kMembers : 0;
  }

  // False: there is no memory, or it is as large as may be.
  bool grow(unsigned level) {
    if (level == kLevels) return false;
    std::atomic<std::uint64_t*>& next = tables_[level + 1].words;
    if (next.load(std::memory_order_acquire) == nullptr) {
      std::uint64_t* const fresh = Pages::take(capacity(level + 1));
      if (fresh == nullptr) return false;
      std::uint64_t* none = nullptr;
      if (!next.compare_exchange_strong(none, fresh)) {
        Pages::give_back(fresh, capacity(level + 1));
      }
    }
    unsigned expected = level;
    if (level_.compare_exchange_strong(expected, level + 1) && level > 1) {
      // Somebody may still be reading there.
      Pages::clear(tables_[level - 1].words.load(), capacity(level - 1));
    }
    return true;
  }

  struct Table {
    std::atomic<std::uint64_t*> words;
    std::atomic<std::size_t> count;
  };
  std::atomic<unsigned> level_;
  Table tables_[kLevels + 1];
};

// The fingerprints of a thread's transactions in one period (since it last forked, joined, met or
// signalled another): in a table of its own while they are few, then among the others'.
template <class Pages, class Crowd, std::size_t kCapacity = 512>
class Distinct {
 public:
  // Whether it is the first of its kind. `thread`: the thread's number.
  bool add(std::uint64_t fingerprint, std::uint32_t thread, Crowd& crowd) {
    if (crowded_) return add_to(crowd, fingerprint, thread);
    if (fingerprint == 0) return true;  // stands for nothing
    if (table_ == nullptr) table_ = Pages::take(kCapacity);
    if (table_ == nullptr) return true;
    std::uint64_t* const slot = find(fingerprint);
    if (slot != nullptr) {
      if (*slot == fingerprint) return false;
      *slot = fingerprint;
      used_ = true;
      return true;
    }
    for (std::size_t i = 0; i < kCapacity; ++i) {
      if (table_[i] != 0) add_to(crowd, table_[i], thread);
    }
    crowded_ = true;
    return add_to(crowd, fingerprint, thread);
  }

  // add() will be called soon.
  void fetch(std::uint64_t fingerprint, std::uint32_t thread, const Crowd& crowd) const {
    if (crowded_) crowd.fetch(in_crowd(fingerprint, thread));
  }

  void new_period() {
    if (used_) {
      for (std::size_t i = 0; i < kCapacity; ++i) table_[i] = 0;
    }
    period_ += crowded_ ? 1 : 0;
    used_ = crowded_ = false;
  }

 private:
  static constexpr std::size_t kBucket = 8;  // a line of the cache

  // Groups of threads and periods are told apart.
  std::uint64_t in_crowd(std::uint64_t fingerprint, std::uint32_t thread) const {
    return mixed(fingerprint, static_cast<std::uint64_t>(period_) << 32 | thread / Crowd::kGroup);
  }
  bool add_to(Crowd& crowd, std::uint64_t fingerprint, std::uint32_t thread) const {
    return crowd.add(in_crowd(fingerprint, thread), thread % Crowd::kGroup);
  }

  // Where it is, or else where there is room in its bucket; nullptr: nowhere.
  std::uint64_t* find(std::uint64_t fingerprint) {
    std::uint64_t* const first = table_ + ((fingerprint >> 20) * kBucket & (kCapacity - 1));
    for (std::uint64_t* slot = first; slot < first + kBucket; ++slot) {
      if (*slot == fingerprint || *slot == 0) return slot;
    }
    return nullptr;
  }

  std::uint64_t* table_;
  std::uint32_t period_;  // of those in which there were many
  bool used_;
  bool crowded_;
};

}  // namespace tomos::runtime
