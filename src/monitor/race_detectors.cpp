#include "monitor/race_detectors.h"

#include <algorithm>
#include <utility>

namespace tomos {

namespace {

SeenAccess seen(const RaceAccess& access) {
  return {.period = access.period,
          .held = access.held,
          .location = access.location,
          .transaction = access.transaction};
}

LocksetId refine(LocksetId known, LocksetId now, Locksets& locksets) {
  return known == kAllLocks ? now : locksets.common(known, now);
}

RaceNews news(bool changed, bool races, RaceVerdict& verdict) {
  verdict.is_racy = races;
  if (races) return RaceNews::kRace;
  return changed ? RaceNews::kSome : RaceNews::kNone;
}

// What Eraser and the object algorithm do once the variable is shared.
template <class State>
RaceNews refine_shared(State& state, const RaceAccess& access, Locksets& locksets) {
  using Phase = State::Phase;
  const Phase phase =
      access.writes() ? Phase::kSharedModified : std::max(state.phase, Phase::kShared);
  const LocksetId locks = refine(state.locks, access.protecting, locksets);
  const bool changed = phase != state.phase || locks != state.locks;
  state.phase = phase;
  state.locks = locks;
  return news(changed, locks == 0 && phase == Phase::kSharedModified, state.verdict);
}

}  // namespace

TransactionSiteId RaceAccesses::intern(const TransactionBounds& transaction) {
  const std::uint64_t place = std::uint64_t{transaction.label} << 32U | transaction.start;
  const auto [at, is_new] =
      by_place_.try_emplace(place, static_cast<TransactionSiteId>(sites_.size()));
  if (is_new) sites_.push_back({.begin = transaction.start, .label = transaction.label});
  return at->second;
}

RaceAccess RaceAccesses::access(const Event& event, Context& context) {
  const Context::Thread& now = context.thread(event.thread);
  if (event.thread >= threads_.size()) threads_.resize(event.thread + std::size_t{1});
  Thread& thread = threads_[event.thread];
  if (thread.held != now.locks) {
    thread.held = thread.reads = thread.writes = now.locks;
    const auto for_reading = [](const Context::Held& held) { return held.writes == 0; };
    if (std::ranges::any_of(now.held, for_reading)) {
      std::vector<ModeLock> all;
      std::vector<ModeLock> exclusive;
      for (const Context::Held& held : now.held) {
        all.push_back(mode_lock(held.lock, false));
        if (!for_reading(held)) exclusive.push_back(all.back());
      }
      thread.reads = context.locksets().intern(std::move(all));
      thread.writes = context.locksets().intern(std::move(exclusive));
    }
  }
  const TransactionBounds& transaction = now.transaction;
  const TransactionSite& last = sites_[thread.transaction];
  if (!transaction.inside()) {
    thread.transaction = kOutside;
  } else if (thread.transaction == kOutside || last.begin != transaction.start ||
             last.label != transaction.label) {
    thread.transaction = intern(transaction);
  }
  return {.thread = event.thread,
          .period = context.period(event.thread),
          .held = now.locks,
          .protecting = event.op == Op::kWrite ? thread.writes : thread.reads,
          .location = event.location,
          .transaction = thread.transaction,
          .op = event.op};
}

RaceNews update(EraserState& state, const RaceAccess& access, Locksets& locksets) {
  if (state.verdict.is_racy) return news_of(state.verdict, access.writes());
  if (state.phase == EraserState::Phase::kVirgin) {
    state.phase = EraserState::Phase::kExclusive;
    state.owner = access.thread;
    return RaceNews::kSome;
  }
  if (state.phase == EraserState::Phase::kExclusive && state.owner == access.thread) {
    return RaceNews::kNone;
  }
  return refine_shared(state, access, locksets);
}

RaceNews update_revised(EraserState& state, const RaceAccess& access, Locksets& locksets,
                        const ThreadPeriods& periods) {
  if (state.verdict.is_racy) return news_of(state.verdict, access.writes());
  const bool is_first = state.phase == EraserState::Phase::kVirgin;
  if (is_first || (state.phase == EraserState::Phase::kExclusive &&
                   !periods.concurrent(state.owner, access.period))) {
    const bool changed = state.owner != access.period;
    state.phase = EraserState::Phase::kExclusive;
    state.owner = access.period;
    return changed ? RaceNews::kSome : RaceNews::kNone;
  }
  return refine_shared(state, access, locksets);
}

RaceNews update(ObjectState& state, const RaceAccess& access, Locksets& locksets) {
  using Phase = ObjectState::Phase;
  if (state.verdict.is_racy) return news_of(state.verdict, access.writes());
  if (state.phase < Phase::kShared) {
    if (state.phase != Phase::kVirgin && state.owner == access.thread) return RaceNews::kNone;
    if (state.phase != Phase::kSecond) {
      // What the first thread does is initialisation, and no partner for a race: the second's is.
      const bool is_first = state.phase == Phase::kVirgin;
      state.phase = is_first ? Phase::kFirst : Phase::kSecond;
      state.owner = access.thread;
      return is_first ? RaceNews::kNone : RaceNews::kSome;
    }
  }
  return refine_shared(state, access, locksets);
}

RaceNews update(AtomizerState& state, const RaceAccess& access, Locksets& locksets) {
  if (state.verdict.is_racy) return news_of(state.verdict, access.writes());
  if (state.is_virgin) {
    state.is_virgin = false;
    state.owner = access.thread;
    return RaceNews::kSome;
  }
  if (!state.is_shared && state.owner == access.thread) return RaceNews::kNone;
  const AtomizerState before = state;
  state.is_shared = true;
  state.access_locks = refine(state.access_locks, access.protecting, locksets);
  if (access.writes()) {
    state.is_written = true;
    state.write_locks = refine(state.write_locks, access.protecting, locksets);
  }
  const bool changed =
      state.is_shared != before.is_shared || state.is_written != before.is_written ||
      state.access_locks != before.access_locks || state.write_locks != before.write_locks;
  const bool races = access.writes() ? state.access_locks == 0
                                     : state.is_written && refine(state.write_locks,
                                                                  access.protecting, locksets) == 0;
  return news(changed, races, state.verdict);
}

void RaceWitnesses::remember(SharedId variable, const RaceAccess& access,
                             const ThreadPeriods& periods, Locksets& locksets) {
  if (variable >= seen_.size()) seen_.resize(variable + std::size_t{1});
  std::array<SeenAccess, 2>& kept =
      access.writes() ? seen_[variable].writes : seen_[variable].reads;
  for (SeenAccess& one : kept) {
    if (one.period != kNoPeriod && periods.thread(one.period) != access.thread) continue;
    // Of a thread: in its last period the access with the fewest locks.
    if (one.period == access.period &&
        (one.held == access.held || locksets.common(one.held, access.held) != access.held)) {
      return;
    }
    one = seen(access);
    return;
  }
  for (SeenAccess& one : kept) {
    const bool is_over = periods.before(one.period, access.period);
    if (is_over || (one.held != 0 && access.held == 0)) {
      one = seen(access);
      return;
    }
  }
}

Race RaceWitnesses::race(SharedId variable, const RaceAccess& access, const ThreadPeriods& periods,
                         const Locksets& locksets) const {
  const SeenAccess now = seen(access);
  Race race{.variable = variable, .first = {}, .second = now, .second_op = access.op};
  if (variable >= seen_.size()) return race;
  int best = -1;
  const auto offer = [&](const SeenAccess& one, Op one_op, const SeenAccess& other, Op other_op) {
    if (one.period == kNoPeriod || other.period == kNoPeriod ||
        periods.thread(one.period) == periods.thread(other.period)) {
      return;
    }
    const bool meets = periods.concurrent(one.period, other.period);
    const bool apart = locksets.exclude(one.held, other.held);
    const int rank = (meets ? 4 : 0) + (apart ? 0 : 2) + (&other == &now ? 1 : 0);
    if (rank > best) {
      race = {.variable = variable,
              .first = one,
              .second = other,
              .first_op = one_op,
              .second_op = other_op};
    }
    best = std::max(best, rank);
  };
  const auto& [writes, reads] = seen_[variable];
  for (const SeenAccess& write : writes) {
    offer(write, Op::kWrite, now, access.op);
    for (const SeenAccess& read : reads) offer(write, Op::kWrite, read, Op::kRead);
  }
  offer(writes[0], Op::kWrite, writes[1], Op::kWrite);
  if (access.writes()) {
    for (const SeenAccess& read : reads) offer(read, Op::kRead, now, access.op);
  }
  return race;
}

}  // namespace tomos
