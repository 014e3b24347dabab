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
// Transactions are known by 64-bit fingerprints: of a million different ones, two fall together
// with a probability of 3 in 100 million.
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

// Memory that is freed and used again is another variable: how often that has happened, for
// each line of 64 bytes. Lines that fall on the same entry only look newer than they are.
class Lives {
 public:
  std::uint32_t of(std::uint64_t address) const {
    return counts_[line(address)].load(std::memory_order_relaxed);
  }
  void end(std::uint64_t start, std::uint64_t size) {
    const std::uint64_t last = (start + (size == 0 ? 0 : size - 1)) >> kLineBits;
    std::uint64_t at = start >> kLineBits;
    if (last - at >= kEntries) at = last - kEntries + 1;
    for (; at <= last; ++at) counts_[at % kEntries].fetch_add(1, std::memory_order_relaxed);
    ends_.fetch_add(1, std::memory_order_relaxed);
  }
  // How often any life has ended.
  std::uint64_t ends() const { return ends_.load(std::memory_order_relaxed); }

 private:
  static constexpr unsigned kLineBits = 6;
  static constexpr std::uint64_t kEntries = 1U << 14;
  static std::uint64_t line(std::uint64_t address) { return (address >> kLineBits) % kEntries; }
  std::atomic<std::uint64_t> ends_;
  std::atomic<std::uint32_t> counts_[kEntries];
};

// The fingerprints of a thread's transactions in one period (since it last forked, joined, met or
// signalled another). When there is no room left for one, it takes the place of another, which at
// worst is recorded once more. Memory comes from `Pages`: a table of zeros, or nullptr if there is
// none.
template <class Pages, std::size_t kLargest>
class Distinct {
 public:
  // Whether it is the first of its kind.
  bool add(std::uint64_t fingerprint) {
    if (fingerprint == 0) fingerprint = 1;
    if (capacity_ == 0 && !grow()) return true;
    std::uint64_t* slot = find(fingerprint);
    if (slot != nullptr && *slot == fingerprint) return false;
    if (slot == nullptr && capacity_ < kLargest && grow()) slot = find(fingerprint);
    if (slot == nullptr) slot = bucket(fingerprint) + (fingerprint & (kBucket - 1));
    *slot = fingerprint;
    used_ = true;
    return true;
  }

  void new_period() {
    if (!used_) return;
    if (capacity_ > kSmallest) {
      Pages::give_back(table_, capacity_);
      table_ = nullptr;
      capacity_ = 0;
    } else {
      for (std::size_t i = 0; i < capacity_; ++i) table_[i] = 0;
    }
    used_ = false;
  }

 private:
  static constexpr std::size_t kBucket = 8;  // a line of the cache
  static constexpr std::size_t kSmallest = 512;

  std::uint64_t* bucket(std::uint64_t fingerprint) {
    return table_ + ((fingerprint >> 20) * kBucket & (capacity_ - 1));
  }

  // Where it is, or else where there is room in its bucket; nullptr: nowhere.
  std::uint64_t* find(std::uint64_t fingerprint) {
    std::uint64_t* const first = bucket(fingerprint);
    for (std::uint64_t* slot = first; slot < first + kBucket; ++slot) {
      if (*slot == fingerprint || *slot == 0) return slot;
    }
    return nullptr;
  }

  // False: there is no memory.
  bool grow() {
    std::uint64_t* const old = table_;
    const std::size_t old_capacity = capacity_;
    const std::size_t capacity = old_capacity == 0 ? kSmallest : 4 * old_capacity;
    std::uint64_t* const table = Pages::take(capacity);
    if (table == nullptr) return false;
    table_ = table;
    capacity_ = capacity;
    for (std::size_t i = 0; i < old_capacity; ++i) {
      if (old[i] == 0) continue;
      if (std::uint64_t* const slot = find(old[i]); slot != nullptr) *slot = old[i];
    }
    if (old != nullptr) Pages::give_back(old, old_capacity);
    return true;
  }

  std::uint64_t* table_;
  std::size_t capacity_;
  bool used_;
};

}  // namespace tomos::runtime
