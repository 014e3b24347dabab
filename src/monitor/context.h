// What every predictive analysis has to know of an event before it looks at it: the transaction,
// the thread period, the locks held, and whether the variable can be seen by others.
#pragma once

#include <cstdint>
#include <vector>

#include "event/event.h"
#include "monitor/analyses.h"
#include "monitor/locksets.h"
#include "monitor/shared_variables.h"
#include "monitor/thread_periods.h"
#include "monitor/transactions.h"

namespace tomos {

class Context {
 public:
  explicit Context(const AnalysisOptions& options)
      : periods_(options.happens_before), variables_(options.escape) {}

  enum class Step : std::uint8_t {
    kNothing,  // nested, re-entrant, or about a variable that nobody else can see
    kAccess,   // of variable()
    kAcquire,  // of a lock that the thread did not hold (in this way: reading, then writing)
    kRelease,  // of a lock that it now no longer holds (or only for reading)
    kBegin,    // an outermost transaction
    kCut,  // a transaction is over: its end, or inside it a fork, join, barrier, signal or wait.
           // Inside (Thread::transaction.inside()) the next event starts another one
  };

  // Takes the next event of the trace. After kRelease the lock is no longer among those held; at
  // kCut for what orders threads the thread is already in its next period, so a monitor that needs
  // the transaction's own keeps it.
  Step take(const Event& event);

  // The variable of the last kAccess.
  SharedId variable() const { return variable_; }

  struct Held {
    LockId lock;
    std::uint32_t reads = 0;   // how often it is held for reading
    std::uint32_t writes = 0;  // how often not only for reading
    LocationId acquired = 0;   // where first
    ModeLock code() const { return mode_lock(lock, writes == 0); }
  };
  struct Thread {
    TransactionBounds transaction;
    std::vector<Held> held;  // in the order they were acquired
    LocksetId locks = 0;     // of mode locks; see locksets.h
  };
  const Thread& thread(ThreadId id) {
    if (id >= threads_.size()) threads_.resize(id + std::size_t{1});
    return threads_[id];
  }
  PeriodId period(ThreadId id) { return periods_.current(id); }

  const ThreadPeriods& periods() const { return periods_; }
  const SharedVariables& variables() const { return variables_; }
  Locksets& locksets() { return locksets_; }
  const Locksets& locksets() const { return locksets_; }

 private:
  Step acquire(const Event& event);
  Step release(const Event& event);
  void refresh(Thread& thread);

  ThreadPeriods periods_;
  SharedVariables variables_;
  Locksets locksets_;
  std::vector<Thread> threads_;
  SharedId variable_ = 0;
};

}  // namespace tomos
