// Whether something (a variable, a lock) is used by two concurrent thread periods at once, of which
// one writes.
//
// Fig. 3 of the paper (section 5.4) keeps the sets of all periods and compares them. Much less
// gives the same answer, because the uses come in the order of a run: whatever is concurrent with a
// period that is over is also concurrent with a later one that comes after it. So only the last
// periods count, those that no other use comes after; and as long as no two writes are concurrent
// that is a single one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "monitor/thread_periods.h"

namespace tomos {

inline constexpr PeriodId kNoPeriod = ~PeriodId{0};

struct Sharing {
  PeriodId write = kNoPeriod;  // one of the last
  PeriodId read = kNoPeriod;
  std::uint32_t more : 30 = 0;  // the other last ones: an index into Sharings; 0: none
  bool writes_meet : 1 = false;
  bool read_meets_write : 1 = false;

  // Never written by one and used by another at the same time: read-only or thread-local (5.3),
  // where threads that are ordered count as one.
  bool is_harmless() const { return !writes_meet && !read_meets_write; }
};
static_assert(sizeof(Sharing) == 12);

// Sets of periods of which only the last count, in the sense above.
class LastPeriods {
 public:
  // Few are kept in place, more elsewhere; those are tidied up whenever they have doubled, so that
  // even a million threads that all read the same cost a few steps each.
  struct Set {
    static constexpr std::uint32_t kFew = 6;
    std::array<PeriodId, kFew> few = {};
    std::uint32_t count = 0;  // of few
    std::uint32_t many = 0;   // an index into many_; 0: few are all
  };

  // Periods that are over may still be among them.
  std::span<const PeriodId> all(const Set& set) const;
  bool has(const Set& set, PeriodId period) const;
  // `now` is the current period of a thread: what comes before it need not be kept beside it.
  void add(Set& set, PeriodId period, PeriodId now, const ThreadPeriods& of);
  void clear(Set& set);

 private:
  struct Many {
    std::vector<PeriodId> periods;
    std::size_t sorted = 0;  // so many of them are in order

    bool has(PeriodId period) const;
    void add(PeriodId period, PeriodId now, const ThreadPeriods& of);
  };

  std::vector<Many> many_ = {{}};
  std::vector<std::uint32_t> free_;
};

// Whether a use in `now`, a period that is not over, can meet one in `earlier`.
inline bool meets(PeriodId earlier, PeriodId now, const ThreadPeriods& periods) {
  return earlier != kNoPeriod && periods.thread(earlier) != periods.thread(now) &&
         !periods.before(earlier, now);
}
inline bool any_meets(std::span<const PeriodId> earlier, PeriodId now,
                      const ThreadPeriods& periods) {
  return std::ranges::any_of(earlier, [&](PeriodId one) { return meets(one, now, periods); });
}

// The index of an item that is not in use.
template <class T>
std::uint32_t take_from(std::vector<T>& items, std::vector<std::uint32_t>& free) {
  if (free.empty()) {
    items.emplace_back();
    return static_cast<std::uint32_t>(items.size() - 1);
  }
  const std::uint32_t index = free.back();
  free.pop_back();
  return index;
}

// Keeps what does not fit into a Sharing.
class Sharings {
 public:
  // A use in the current period of its thread. Whether anything changed.
  bool use(Sharing& sharing, PeriodId now, bool writes, const ThreadPeriods& periods);

 private:
  struct More {
    LastPeriods::Set writes;
    LastPeriods::Set reads;
  };
  static_assert(sizeof(More) == 64);

  bool known(const Sharing& sharing, PeriodId now, bool writes) const;
  void remember(Sharing& sharing, PeriodId now, bool writes, const ThreadPeriods& periods);
  void forget(Sharing& sharing);

  std::vector<More> more_ = {{}};
  std::vector<std::uint32_t> free_more_;
  LastPeriods last_;
};

}  // namespace tomos
