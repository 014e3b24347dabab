#include "monitor/reduction_sharing.h"

#include <algorithm>
#include <utility>

namespace tomos {

bool LastPeriods::Many::has(PeriodId period) const {
  const auto unsorted = periods.begin() + static_cast<std::ptrdiff_t>(sorted);
  if (std::binary_search(periods.begin(), unsorted, period)) return true;
  // One that is missed here is kept twice until the next tidying.
  constexpr std::ptrdiff_t kLatest = 8;
  const auto latest = periods.end() - std::min(kLatest, periods.end() - unsorted);
  return std::find(latest, periods.end(), period) != periods.end();
}

void LastPeriods::Many::add(PeriodId period, PeriodId now, const ThreadPeriods& of) {
  periods.push_back(period);
  constexpr std::size_t kSome = 16;
  if (periods.size() < 2 * sorted + kSome) return;
  std::erase_if(periods, [&](PeriodId other) { return of.before(other, now); });
  std::ranges::sort(periods);
  const auto repeated = std::ranges::unique(periods);
  periods.erase(repeated.begin(), repeated.end());
  sorted = periods.size();
}

std::span<const PeriodId> LastPeriods::all(const Set& set) const {
  if (set.many != 0) return many_[set.many].periods;
  return std::span(set.few).first(set.count);
}

bool LastPeriods::has(const Set& set, PeriodId period) const {
  if (set.many != 0) return many_[set.many].has(period);
  return std::find(set.few.begin(), set.few.begin() + set.count, period) !=
         set.few.begin() + set.count;
}

void LastPeriods::add(Set& set, PeriodId period, PeriodId now, const ThreadPeriods& of) {
  if (set.many == 0 && set.count == Set::kFew) {
    const auto over = std::remove_if(set.few.begin(), set.few.end(),
                                     [&](PeriodId other) { return of.before(other, now); });
    set.count = static_cast<std::uint32_t>(over - set.few.begin());
    if (set.count == Set::kFew) {
      set.many = take_from(many_, free_);
      many_[set.many].periods.assign(set.few.begin(), set.few.end());
    }
  }
  if (set.many != 0) {
    many_[set.many].add(period, now, of);
  } else {
    set.few[set.count++] = period;
  }
}

void LastPeriods::clear(Set& set) {
  if (set.many != 0) {
    many_[set.many] = {};
    free_.push_back(set.many);
  }
  set = {};
}

bool Sharings::known(const Sharing& sharing, PeriodId now, bool writes) const {
  if ((writes ? sharing.write : sharing.read) == now) return true;
  if (sharing.more == 0) return false;
  const More& more = more_[sharing.more];
  return last_.has(writes ? more.writes : more.reads, now);
}

bool Sharings::use(Sharing& sharing, PeriodId now, bool writes, const ThreadPeriods& periods) {
  if (known(sharing, now, writes)) return false;
  if (sharing.read_meets_write) {
    // Reads are of no more interest, and writes only until two meet: till then the last stands for
    // all.
    if (!writes || sharing.writes_meet) return false;
    sharing.writes_meet = meets(sharing.write, now, periods);
    sharing.write = now;
    return true;
  }
  const More& more = more_[sharing.more];
  if (writes) {
    sharing.writes_meet = sharing.writes_meet || meets(sharing.write, now, periods) ||
                          any_meets(last_.all(more.writes), now, periods);
    sharing.read_meets_write =
        meets(sharing.read, now, periods) || any_meets(last_.all(more.reads), now, periods);
  } else {
    sharing.read_meets_write =
        meets(sharing.write, now, periods) || any_meets(last_.all(more.writes), now, periods);
  }
  if (sharing.read_meets_write) {
    forget(sharing);
    if (writes) sharing.write = now;
  } else {
    remember(sharing, now, writes, periods);
  }
  return true;
}

void Sharings::remember(Sharing& sharing, PeriodId now, bool writes, const ThreadPeriods& periods) {
  PeriodId& own = writes ? sharing.write : sharing.read;
  const PeriodId last = std::exchange(own, now);
  if (last == kNoPeriod || periods.before(last, now)) return;
  if (sharing.more == 0) sharing.more = take_from(more_, free_more_);
  More& more = more_[sharing.more];
  last_.add(writes ? more.writes : more.reads, last, now, periods);
}

void Sharings::forget(Sharing& sharing) {
  if (sharing.more == 0) return;
  More& more = more_[sharing.more];
  last_.clear(more.writes);
  last_.clear(more.reads);
  free_more_.push_back(sharing.more);
  sharing.more = 0;
}

}  // namespace tomos
