// Ways to find variables with data races (Wang & Stoller, section 5.4), over one stream of
// accesses: Eraser [28], the object algorithm of von Praun and Gross [29], and the Atomizer's [10].
// The fourth has a file of its own (multilockset.h).
//
// Each keeps one small state for each variable, and once a variable is racy it stays so: all four
// only ever lose locks and gain threads. Beside the states a few accesses of each variable are
// kept, so that a race can be told as two accesses (RaceWitnesses).
//
// A lock protects a write only if it is not held just for reading; a read it protects either way.
//
// These three assume that what the first thread does (for the object algorithm: the first two)
// is initialisation, and therefore miss races. In the originals a whole object is a variable for
// [29]; here a variable is a variable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "event/event.h"
#include "monitor/context.h"
#include "monitor/locksets.h"
#include "monitor/reduction_sharing.h"
#include "monitor/shared_variables.h"
#include "monitor/thread_periods.h"

namespace tomos {

// Not yet any access: every lock could still be the one.
inline constexpr LocksetId kAllLocks = ~LocksetId{0};

// A transaction in the program. Outside of any there is none.
using TransactionSiteId = std::uint32_t;
inline constexpr TransactionSiteId kOutside = 0;
struct TransactionSite {
  LocationId begin = 0;
  LabelId label = 0;

  friend bool operator==(const TransactionSite&, const TransactionSite&) = default;
};

// An access as the detectors see it.
struct RaceAccess {
  ThreadId thread = 0;
  PeriodId period = 0;
  LocksetId held = 0;        // mode locks
  LocksetId protecting = 0;  // those that protect it, none of them for reading
  LocationId location = 0;
  TransactionSiteId transaction = kOutside;
  Op op = Op::kRead;

  bool writes() const { return op == Op::kWrite; }
};

// The last access that the context took.
class RaceAccesses {
 public:
  RaceAccess access(const Event& event, Context& context);

  const TransactionSite& transaction(TransactionSiteId id) const { return sites_[id]; }

 private:
  struct Thread {
    LocksetId held = 0;
    LocksetId reads = 0;   // of these, the locks that protect reads
    LocksetId writes = 0;  // and writes
    TransactionSiteId transaction = kOutside;
  };
  TransactionSiteId intern(const TransactionBounds& transaction);

  std::vector<Thread> threads_;
  std::vector<TransactionSite> sites_ = {{}};
  std::unordered_map<std::uint64_t, TransactionSiteId> by_place_;
};

enum class RaceNews : std::uint8_t {
  kNone,
  kSome,  // the access is worth remembering: the detector learned something, or the race is young
  kRace,  // the variable is racy, since this access
};

// What is known of a variable beside the state of the detector.
struct RaceVerdict {
  bool is_racy = false;
  std::uint8_t since = 0;  // writes since it is
};

struct EraserState {
  enum class Phase : std::uint8_t { kVirgin, kExclusive, kShared, kSharedModified };
  std::uint32_t owner = ~0U;    // a thread; for the revised algorithm a thread period
  LocksetId locks = kAllLocks;  // held at every access since the second thread's first
  Phase phase = Phase::kVirgin;
  RaceVerdict verdict;
};

struct ObjectState {
  // kSecond: "exclusive2", the variable has been handed to its second thread.
  enum class Phase : std::uint8_t { kVirgin, kFirst, kSecond, kShared, kSharedModified };
  ThreadId owner = 0;
  LocksetId locks = kAllLocks;
  Phase phase = Phase::kVirgin;
  RaceVerdict verdict;
};

struct AtomizerState {
  ThreadId owner = 0;
  LocksetId access_locks = kAllLocks;
  LocksetId write_locks = kAllLocks;
  bool is_virgin = true;
  bool is_shared = false;
  bool is_written = false;  // since it is shared
  RaceVerdict verdict;
};

// Of an access to a variable that is racy already: some writes are still worth remembering, as
// partners of other accesses in a report.
inline RaceNews news_of(RaceVerdict& racy, bool writes) {
  constexpr std::uint8_t kYoung = 2;
  if (!writes || racy.since >= kYoung) return RaceNews::kNone;
  ++racy.since;
  return RaceNews::kSome;
}

RaceNews update(EraserState& state, const RaceAccess& access, Locksets& locksets);
RaceNews update(ObjectState& state, const RaceAccess& access, Locksets& locksets);
// Without an initialisation of its own the algorithm would call every variable without locks racy;
// it takes Eraser's.
RaceNews update(AtomizerState& state, const RaceAccess& access, Locksets& locksets);

// The "revised Eraser" of section 8.3. Its initialisation ends at the escape, so the first access
// that counts finds the variable where [29] has it after the first thread: owned, its locks not yet
// refined. With happens-before, the owner is a thread period, and passes the variable on to
// whatever comes after it: only a period concurrent with the owner makes it shared.
RaceNews update_revised(EraserState& state, const RaceAccess& access, Locksets& locksets,
                        const ThreadPeriods& periods);

// An access that is remembered. Which thread, the period says.
struct SeenAccess {
  PeriodId period = kNoPeriod;
  LocksetId held = 0;
  LocationId location = 0;
  TransactionSiteId transaction = kOutside;
};

// A race, as two accesses. The first is not known if its period is kNoPeriod.
struct Race {
  SharedId variable = 0;
  SeenAccess first;
  SeenAccess second;
  Op first_op = Op::kWrite;
  Op second_op = Op::kWrite;
};

// For each variable up to two reads and two writes, of different threads: enough to have a partner
// for any access.
class RaceWitnesses {
 public:
  // Says that an access to the variable may soon have to be remembered.
  void expect(SharedId variable) const {
    if (variable < seen_.size()) __builtin_prefetch(&seen_[variable], 1);
  }

  void remember(SharedId variable, const RaceAccess& access, const ThreadPeriods& periods,
                Locksets& locksets);

  // What is remembered of a variable of which something is.
  std::span<const SeenAccess> writes(SharedId variable) const { return seen_[variable].writes; }
  std::span<const SeenAccess> reads(SharedId variable) const { return seen_[variable].reads; }

  // The two conflicting accesses that show the race best: concurrent, with no lock that keeps them
  // apart, and if possible one of them the access that made the variable racy.
  Race race(SharedId variable, const RaceAccess& access, const ThreadPeriods& periods,
            const Locksets& locksets) const;

 private:
  struct alignas(64) Seen {
    std::array<SeenAccess, 2> writes;
    std::array<SeenAccess, 2> reads;
  };
  std::vector<Seen> seen_;
};

}  // namespace tomos
