// Which two variables may be cut together.
//
// A violation on two variables takes two transactions of different threads that both access both,
// and on each of the variables one of them writes. Most pairs of variables are of one transaction
// only, or nobody writes one of them together with the other: of those no 2v-blocks are needed. So
// all that has to be known of a pair beforehand are the threads that write none, one or both of it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "monitor/block_store.h"
#include "monitor/interned.h"
#include "monitor/thread_periods.h"

namespace tomos {

class BlockPairs {
 public:
  // One thread, or several: then it does not matter which. Threads with large numbers count as
  // several, which leaves out less.
  using Threads = std::uint16_t;
  static constexpr Threads kNobody = 0;
  static constexpr Threads kSeveral = 0x7fff;
  static Threads threads_of(const PeriodSet& periods);

  // Which of the two, the one with the lower number and the other, are written.
  using Writes = unsigned;
  static constexpr Writes kLower = 1;
  static constexpr Writes kUpper = 2;

  class Pair {
   public:
    void meet(Writes writes, Threads threads) {
      Threads& known = threads_[writes];
      known = (known & kFlag) | either(known & kSeveral, threads);
    }
    // Whether a block with these writes can meet one that conflicts with it on both.
    bool can_meet(Writes writes) const {
      for (Writes other = 0; other < threads_.size(); ++other) {
        if ((writes | other) != (kLower | kUpper) || (threads_[other] & kSeveral) == kNobody) {
          continue;
        }
        if (either(threads_[writes] & kSeveral, threads_[other] & kSeveral) == kSeveral) {
          return true;
        }
      }
      return false;
    }
    // Whether some block of it can be cut, as far as locks tell.
    bool can_be_cut() const { return (threads_[0] & kFlag) != 0; }
    void set_can_be_cut() { threads_[0] |= kFlag; }

   private:
    friend class BlockPairs;
    static constexpr Threads kFlag = 0x8000;
    static Threads either(unsigned a, unsigned b) {
      if (a == kNobody || a == b) return static_cast<Threads>(b);
      return b == kNobody ? static_cast<Threads>(a) : kSeveral;
    }
    std::uint64_t key_ = 0;  // no pair has this
    std::array<Threads, 4> threads_ = {};
  };

  // Two different variables, in any order.
  Pair& at(SharedId a, SharedId b) {
    const std::uint64_t key = pair(std::min(a, b), std::max(a, b));
    Pair* found = &slots_[find(key)];
    if (found->key_ == key) return *found;
    if (slots_.size() < 2 * (size_ + 1)) {
      grow();
      found = &slots_[find(key)];
    }
    ++size_;
    found->key_ = key;
    return *found;
  }
  // Nothing if the pair is not known.
  const Pair* known(SharedId a, SharedId b) const {
    const std::uint64_t key = pair(std::min(a, b), std::max(a, b));
    const Pair& found = slots_[find(key)];
    return found.key_ == key ? &found : nullptr;
  }
  std::size_t size() const { return size_; }

 private:
  std::size_t find(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = mix(1, key) & mask;
    while (slots_[i].key_ != 0 && slots_[i].key_ != key) i = (i + 1) & mask;
    return i;
  }
  void grow() {
    std::vector<Pair> before(2 * slots_.size());
    before.swap(slots_);
    for (const Pair& one : before) {
      if (one.key_ != 0) slots_[find(one.key_)] = one;
    }
  }

  std::vector<Pair> slots_ = std::vector<Pair>(1024);
  std::size_t size_ = 0;
};

inline BlockPairs::Threads BlockPairs::threads_of(const PeriodSet& periods) {
  const std::vector<PeriodSet::Run>& runs = periods.runs();
  const ThreadId thread = runs.front().thread;
  if (thread != runs.back().thread || thread + 1 >= kSeveral) return kSeveral;
  return static_cast<Threads>(thread + 1);
}

}  // namespace tomos
