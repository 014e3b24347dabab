#include "monitor/multilockset.h"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace tomos {

namespace {

// More than programs need; beyond it Fig. 3 is good enough.
constexpr std::uint8_t kMostParts = 16;
constexpr std::size_t kMostPeriods = 512;

}  // namespace

LocksetId Multilockset::common(LocksetId a, LocksetId b, Locksets& locksets) {
  if (a == b || b == kAllLocks) return a;
  if (a == kAllLocks) return b;
  if (a == 0 || b == 0) return 0;
  Intersection& known = known_[(a * 0x9e37'79b9U + b * 0x85eb'ca6bU) >> 24U];
  if (known.a != a || known.b != b) known = {.a = a, .b = b, .both = locksets.common(a, b)};
  return known.both;
}

RaceNews Multilockset::learn(SharedId variable, const RaceAccess& access,
                             const ThreadPeriods& periods, Locksets& locksets) {
  State& state = states_[variable];
  if (state.verdict.is_racy) return RaceNews::kSome;
  if (is_known(state, access, locksets)) return RaceNews::kNone;
  if (!races(state, access, periods, locksets) && !remember(state, access, periods, locksets)) {
    return RaceNews::kSome;
  }
  state.verdict.is_racy = true;
  forget(state);
  return RaceNews::kRace;
}

bool Multilockset::is_known(const State& state, const RaceAccess& access, Locksets& locksets) {
  const auto covers = [&](const One& one) {
    return one.period == access.period && contains(access.protecting, one.locks, locksets);
  };
  // A write meets whatever a read does.
  if (covers(state.write) || (!access.writes() && covers(state.read))) return true;
  for (std::uint32_t i = state.parts; i != 0; i = parts_[i].next) {
    const Part& part = parts_[i];
    if (access.writes() && !part.writes) continue;
    if (!contains(access.protecting, part.locks, locksets)) continue;
    if (part.is_merged || last_.has(part.periods, access.period)) return true;
  }
  return false;
}

bool Multilockset::races(State& state, const RaceAccess& access, const ThreadPeriods& periods,
                         Locksets& locksets) {
  // Whether they meet is looked up only if it matters.
  const auto races_with = [&](LocksetId locks, auto&& can_meet) {
    const bool apart = common(locks, access.protecting, locksets) == 0;
    if ((!apart && !state.is_harmless) || !can_meet()) return false;
    state.is_harmless = false;
    return apart;
  };
  const auto races_with_one = [&](const One& one) {
    return one.period != kNoPeriod &&
           races_with(one.locks, [&] { return meets(one.period, access.period, periods); });
  };
  if (races_with_one(state.write)) return true;
  if (access.writes() && races_with_one(state.read)) return true;
  for (std::uint32_t i = state.parts; i != 0; i = parts_[i].next) {
    const Part& part = parts_[i];
    if (!access.writes() && !part.writes) continue;
    const auto can_meet = [&] {
      return part.is_merged || any_meets(last_.all(part.periods), access.period, periods);
    };
    if (races_with(part.locks, can_meet)) return true;
  }
  return false;
}

bool Multilockset::remember(State& state, const RaceAccess& access, const ThreadPeriods& periods,
                            Locksets& locksets) {
  One& one = access.writes() ? state.write : state.read;
  const bool is_later = one.period == kNoPeriod || one.period == access.period ||
                        periods.before(one.period, access.period);
  if (is_later && contains(one.locks, access.protecting, locksets)) {
    one = {.period = access.period, .locks = access.protecting};
    return false;
  }
  std::uint32_t same = state.parts;
  while (same != 0 && (parts_[same].writes != access.writes() ||
                       parts_[same].locks != access.protecting || parts_[same].is_merged)) {
    same = parts_[same].next;
  }
  if (same == 0 && state.parts_count >= kMostParts) return merge(state, access, periods, locksets);
  Part& part = same != 0 ? parts_[same] : add_part(state, access.writes(), access.protecting);
  last_.add(part.periods, access.period, access.period, periods);
  const bool is_full = !state.is_harmless && last_.all(part.periods).size() >= kMostPeriods;
  return is_full && merge(state, access, periods, locksets);
}

Multilockset::Part& Multilockset::add_part(State& state, bool writes, LocksetId locks) {
  const std::uint32_t index = take_from(parts_, free_parts_);
  Part& part = parts_[index];
  part.locks = locks;
  part.writes = writes;
  part.next = std::exchange(state.parts, index);
  ++state.parts_count;
  return part;
}

// All reads, or all writes, become one part with the locks that they have in common. As long as no
// conflicting accesses meet, the periods are kept: a thread may access what is its own with any
// locks.
bool Multilockset::merge(State& state, const RaceAccess& access, const ThreadPeriods& periods,
                         Locksets& locksets) {
  Part merged{.locks = access.protecting, .writes = access.writes()};
  merged.is_merged = !state.is_harmless;
  const auto take = [&](LocksetId locks, std::span<const PeriodId> from) {
    merged.locks = common(merged.locks, locks, locksets);
    if (merged.is_merged) return;
    for (const PeriodId period : from) last_.add(merged.periods, period, access.period, periods);
  };
  const One one = std::exchange(access.writes() ? state.write : state.read, {});
  if (one.period != kNoPeriod) take(one.locks, std::span(&one.period, 1));
  for (std::uint32_t i = std::exchange(state.parts, 0); i != 0;) {
    Part& part = parts_[i];
    const std::uint32_t index = i;
    i = part.next;
    if (part.writes != merged.writes) {
      part.next = std::exchange(state.parts, index);
      continue;
    }
    const std::vector<PeriodId> from(last_.all(part.periods).begin(),
                                     last_.all(part.periods).end());
    take(part.locks, from);
    last_.clear(part.periods);
    part = {};
    free_parts_.push_back(index);
    --state.parts_count;
  }
  take(access.protecting, std::span(&access.period, 1));
  Part& part = add_part(state, merged.writes, merged.locks);
  part.periods = merged.periods;
  part.is_merged = merged.is_merged;
  if (!merged.is_merged) return false;
  if (merged.writes && merged.locks == 0) return true;
  const One& other = merged.writes ? state.read : state.write;
  if (other.period != kNoPeriod && common(other.locks, merged.locks, locksets) == 0) return true;
  for (std::uint32_t i = state.parts; i != 0; i = parts_[i].next) {
    if (parts_[i].writes == merged.writes) continue;
    if (common(parts_[i].locks, merged.locks, locksets) == 0) return true;
  }
  return false;
}

void Multilockset::forget(State& state) {
  for (std::uint32_t i = std::exchange(state.parts, 0); i != 0;) {
    const std::uint32_t index = i;
    i = parts_[i].next;
    last_.clear(parts_[index].periods);
    parts_[index] = {};
    free_parts_.push_back(index);
  }
  state.parts_count = 0;
}

}  // namespace tomos
