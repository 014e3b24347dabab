// Multilockset (Wang & Stoller, section 5.4), the detector of races that misses none.
//
// Fig. 3 keeps for each variable the locks held at all writes, the sets of locks held at reads, and
// the thread periods of both, and looks at each of them as a whole. So an access that can meet no
// other, without a lock before the first fork or after the last join, takes the lock away from
// those that can meet and hold it: a false alarm for the commonest of programs. Here the locks stay
// beside the periods: a variable is racy if two conflicting accesses in concurrent periods hold no
// lock in common. All such variables are racy in Fig. 3 too, and accesses to any other commute.
//
// Accesses with the same locks are kept as one part, and of their periods only the last: whatever
// is concurrent with a period that is over is also concurrent with a later one that comes after it
// (see reduction_sharing.h). A variable whose parts or periods become too many is from then on
// judged like in Fig. 3, as if all its reads or writes could meet everything else.
//
// A lock protects a write only if it is not held just for reading; a read it protects either way.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "monitor/locksets.h"
#include "monitor/race_detectors.h"
#include "monitor/reduction_sharing.h"
#include "monitor/shared_variables.h"
#include "monitor/thread_periods.h"

namespace tomos {

class Multilockset {
 public:
  // Whether there can be anything new in an access to the variable; to be asked of every one.
  bool is_news(SharedId variable, PeriodId period, LocksetId held, bool writes) {
    if (variable >= states_.size()) states_.resize(variable + std::size_t{1});
    State& state = states_[variable];
    if (state.verdict.is_racy) return news_of(state.verdict, writes) != RaceNews::kNone;
    const std::uint8_t op = writes ? kWrote : kRead;
    if (state.last_period != period || state.last_held != held) {
      state.last_period = period;
      state.last_held = held;
      state.last_ops = 0;
    } else if ((state.last_ops & op) != 0) {
      return false;
    }
    state.last_ops |= op;
    return true;
  }
  // To be told of if it is.
  RaceNews learn(SharedId variable, const RaceAccess& access, const ThreadPeriods& periods,
                 Locksets& locksets);

  // Says that the variable will soon be asked about.
  void expect(SharedId variable) const {
    if (variable < states_.size()) __builtin_prefetch(&states_[variable], 1);
  }

  // Never written by one and used by another at the same time: read-only or thread-local (5.3),
  // where threads that are ordered count as one.
  bool is_harmless(SharedId variable) const { return states_[variable].is_harmless; }

 private:
  static constexpr std::uint8_t kRead = 1;
  static constexpr std::uint8_t kWrote = 2;

  // Accesses of one period. Most variables have no others.
  struct One {
    PeriodId period = kNoPeriod;
    LocksetId locks = kAllLocks;
  };
  // Accesses of several periods with the same locks, or in merged parts at least with these.
  struct Part {
    LastPeriods::Set periods;
    LocksetId locks = kAllLocks;
    std::uint32_t next : 30 = 0;  // of the variable: an index into parts_; 0: the last
    bool writes : 1 = false;
    bool is_merged : 1 = false;  // of periods that are not known: they may meet everything
  };
  static_assert(sizeof(Part) == 40);
  struct State {
    // The last access: one that is the same again says nothing new.
    PeriodId last_period = kNoPeriod;
    LocksetId last_held = 0;
    One write;
    One read;
    std::uint32_t parts = 0;  // the others, an index into parts_
    std::uint8_t parts_count : 7 = 0;
    bool is_harmless : 1 = true;
    std::uint8_t last_ops = 0;
    RaceVerdict verdict;
  };
  static_assert(sizeof(State) == 32);

  // Whether nothing that this access can race with can fail to race with what is known.
  bool is_known(const State& state, const RaceAccess& access, Locksets& locksets);
  // Whether it races with what is known.
  bool races(State& state, const RaceAccess& access, const ThreadPeriods& periods,
             Locksets& locksets);
  // Whether the variable has to be taken for racy, because not everything can be remembered.
  bool remember(State& state, const RaceAccess& access, const ThreadPeriods& periods,
                Locksets& locksets);
  bool merge(State& state, const RaceAccess& access, const ThreadPeriods& periods,
             Locksets& locksets);
  Part& add_part(State& state, bool writes, LocksetId locks);
  void forget(State& state);

  LocksetId common(LocksetId a, LocksetId b, Locksets& locksets);
  bool contains(LocksetId larger, LocksetId smaller, Locksets& locksets) {
    return common(larger, smaller, locksets) == smaller;
  }

  struct Intersection {
    LocksetId a = 0;
    LocksetId b = 0;
    LocksetId both = 0;
  };

  std::vector<State> states_;
  std::vector<Part> parts_ = {{}};
  std::vector<std::uint32_t> free_parts_;
  LastPeriods last_;
  std::array<Intersection, 256> known_ = {};  // the sets met last are met again
};

}  // namespace tomos
