// What commutes with what (Wang & Stoller, sections 5.1 and 5.3 to 5.5): which accesses and lock
// operations the reduction analyses may take for both-movers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "event/event.h"
#include "monitor/analyses.h"
#include "monitor/context.h"
#include "monitor/locksets.h"
#include "monitor/multilockset.h"
#include "monitor/race_detectors.h"
#include "monitor/reduction_sharing.h"

namespace tomos {

// Acquires are right-movers and releases left-movers, for reading as well: next to an acquire for
// reading another thread can acquire or release only for reading, and that commutes; but what lets
// it begin, the release of a writer, it cannot pass, and neither can a read-release pass the
// acquire of the writer who waited for it.
//
// Both-movers are (section 5.5) those of
// - re-entrant locks: the context does not even show them;
// - thread-local locks: no two concurrent periods use the lock, one of them exclusively. Without
//   happens-before that says: one thread, or only readers;
// - protected locks: there is a lock that is held exclusively all the time the lock is held.
class LockMovers {
 public:
  // The last acquire or release that the context took.
  void use(const Event& event, Context& context);

  bool is_both_mover(LockId lock) const {
    const State& state = states_[lock];
    return state.sharing.is_harmless() || state.protectors != 0;
  }

 private:
  struct State {
    Sharing sharing;
    LocksetId protectors = kAllLocks;  // held exclusively all the time the lock is held, always
    LocksetId held = 0;                // what its holder held when that was looked at last
  };
  State& at(LockId lock) {
    if (lock >= states_.size()) states_.resize(lock + std::size_t{1});
    return states_[lock];
  }
  void protect(LockId lock, const Context::Thread& thread, Locksets& locksets);

  std::vector<State> states_;
  Sharings sharings_;
};

// Locks that are not always free when all threads are between transactions.
//
// AcqA*Rel takes that for granted: the serial run in which somebody acquires the lock between two
// transactions must exist. It need not if a thread keeps a lock from one transaction to the next;
// the theorem is about locks that are acquired and released inside transactions. What else happens
// while a lock is held can be moved together around one transaction (or single access, fork, join
// or barrier) if it is acquires before and releases after; then the lock is free again before
// anybody else is in his way. All other locks are carried.
class CarriedLocks {
 public:
  // A transaction starts, or a single access, fork, join or barrier is met, or a lock is acquired
  // outside of transactions.
  void before(ThreadId thread);
  // It is over; or a lock was released outside of transactions.
  void after(ThreadId thread, Context& context);
  // The thread no longer holds the lock.
  void release(ThreadId thread, LockId lock);

  bool is_carried(LockId lock) const { return lock < is_carried_.size() && is_carried_[lock]; }

 private:
  // What each thread has held since one of the things in after().
  std::vector<std::vector<LockId>> kept_;
  std::vector<bool> is_carried_;
};

// Accesses to racy variables are non-movers, all others both-movers.
class VariableMovers {
 public:
  explicit VariableMovers(const AnalysisOptions& options);

  // The last access that the context took.
  void access(const Event& event, Context& context);
  // Says that an access to the variable will come in a while, and soon.
  void expect_later(VariableId variable) const {
    if (variable < shared_of_.size()) __builtin_prefetch(&shared_of_[variable]);
  }
  void expect_soon(VariableId variable) const {
    if (variable >= shared_of_.size()) return;
    multilockset_.expect(shared_of_[variable]);
    witnesses_.expect(shared_of_[variable]);
  }

  bool is_racy(SharedId variable) const { return variable < is_racy_.size() && is_racy_[variable]; }
  // "A": read-only or thread-local.
  bool is_harmless(SharedId variable) const;
  // Some of its accesses.
  std::span<const SeenAccess> writes(SharedId variable) const {
    return witnesses_.writes(variable);
  }
  std::span<const SeenAccess> reads(SharedId variable) const { return witnesses_.reads(variable); }
  const TransactionSite& transaction(TransactionSiteId id) const {
    return accesses_.transaction(id);
  }

 private:
  // With multilockset off, section 8.3 has two older ones in its place.
  enum class Algorithm : std::uint8_t { kMultilockset, kRevisedEraser, kObject };
  bool is_news(SharedId variable, const Event& event, Context& context);
  RaceNews judge(SharedId variable, const RaceAccess& access, Context& context);

  Algorithm algorithm_;
  RaceAccesses accesses_;
  Multilockset multilockset_;
  std::vector<EraserState> eraser_;
  std::vector<ObjectState> object_;
  std::vector<Sharing> sharing_;  // for the two older ones
  Sharings sharings_;
  std::vector<bool> is_racy_;
  RaceWitnesses witnesses_;
  std::vector<SharedId> shared_of_;  // what each variable was last
};

}  // namespace tomos
