#include "monitor/reduction_sharing.h"

#include <algorithm>
#include <utility>

namespace tomos {

namespace {

// Whether a use in `now`, a period that is not over, can meet one in `earlier`.
bool meets(PeriodId earlier, PeriodId now, const ThreadPeriods& periods) {
  return earlier != kNoPeriod && periods.thread(earlier) != periods.thread(now) &&
         !periods.before(earlier, now);
}

bool any_meets(PeriodId one, std::span<const PeriodId> others, PeriodId now,
               const ThreadPeriods& periods) {
  return meets(one, now, periods) ||
         std::ranges::any_of(others, [&](PeriodId other) { return meets(other, now, periods); });
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

}  // namespace

bool Sharings::Many::has(PeriodId period) const {
  const auto unsorted = periods.begin() + static_cast<std::ptrdiff_t>(sorted);
  if (std::binary_search(periods.begin(), unsorted, period)) return true;
  // One that is missed here is kept twice until the next tidying.
  constexpr std::ptrdiff_t kLatest = 8;
  const auto latest = periods.end() - std::min(kLatest, periods.end() - unsorted);
  return std::find(latest, periods.end(), period) != periods.end();
}

void Sharings::Many::add(PeriodId period, PeriodId now, const ThreadPeriods& of) {
  periods.push_back(period);
  constexpr std::size_t kSome = 16;
  if (periods.size() < 2 * sorted + kSome) return;
  std::erase_if(periods, [&](PeriodId other) { return of.before(other, now); });
  std::ranges::sort(periods);
  const auto repeated = std::ranges::unique(periods);
  periods.erase(repeated.begin(), repeated.end());
  sorted = periods.size();
}

std::span<const PeriodId> Sharings::all(const Last& last) const {
  if (last.many != 0) return many_[last.many].periods;
  return std::span(last.few).first(last.count);
}

bool Sharings::has(const Last& last, PeriodId period) const {
  if (last.many != 0) return many_[last.many].has(period);
  return std::find(last.few.begin(), last.few.begin() + last.count, period) !=
         last.few.begin() + last.count;
}

void Sharings::add(Last& last, PeriodId period, PeriodId now, const ThreadPeriods& of) {
  if (last.many == 0 && last.count == Last::kFew) {
    const auto over = std::remove_if(last.few.begin(), last.few.end(),
                                     [&](PeriodId other) { return of.before(other, now); });
    last.count = static_cast<std::uint32_t>(over - last.few.begin());
    if (last.count == Last::kFew) {
      last.many = take_from(many_, free_many_);
      many_[last.many].periods.assign(last.few.begin(), last.few.end());
    }
  }
  if (last.many != 0) {
    many_[last.many].add(period, now, of);
  } else {
    last.few[last.count++] = period;
  }
}

bool Sharings::known(const Sharing& sharing, PeriodId now, bool writes) const {
  if ((writes ? sharing.write : sharing.read) == now) return true;
  if (sharing.more == 0) return false;
  const More& more = more_[sharing.more];
  return has(writes ? more.writes : more.reads, now);
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
    sharing.writes_meet =
        sharing.writes_meet || any_meets(sharing.write, all(more.writes), now, periods);
    sharing.read_meets_write = any_meets(sharing.read, all(more.reads), now, periods);
  } else {
    sharing.read_meets_write = any_meets(sharing.write, all(more.writes), now, periods);
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
  add(writes ? more.writes : more.reads, last, now, periods);
}

void Sharings::forget(Sharing& sharing) {
  if (sharing.more == 0) return;
  More& more = more_[sharing.more];
  for (const Last* last : {&more.writes, &more.reads}) {
    if (last->many == 0) continue;
    many_[last->many] = {};
    free_many_.push_back(last->many);
  }
  more = {};
  free_more_.push_back(sharing.more);
  sharing.more = 0;
}

}  // namespace tomos
