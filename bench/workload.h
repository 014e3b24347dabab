// A random program that runs one event at a time: the events of a benchmark trace, without end and
// in little memory.
//
// Every step picks a thread at random and lets it do one thing, so nearly all threads are inside a
// transaction at any time. Locks are always respected. What keeps a `serial` trace free of
// violations is two-phase locking, with locks that nobody sees: besides the trace's own locks, a
// transaction holds each variable it has touched, for reading or for writing. It first only gains
// (variables and locks), and then, from some point on, only gives back while it goes on accessing
// what it still has. Ordering transactions by the moment between the two phases orders every pair
// of conflicting events, and every release before every later acquire, as they stand in the trace;
// so the trace is serializable with data and with sync edges. Since a transaction gives back long
// before it ends, others come to depend on it while it is open, which is the hard case for a
// monitor. A thread never waits: if what it wants is taken it wants something else.
//
// A `racy` trace has the same transactions and locks, and accesses any variable at any time.
#pragma once

#include <cstdint>
#include <vector>

#include "event/event.h"
#include "shapes.h"

namespace tomos::bench {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {  // splitmix64
    std::uint64_t z = state_ += 0x9e37'79b9'7f4a'7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58'476d'1ce4'e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d0'49bb'1331'11ebU;
    return z ^ (z >> 31U);
  }
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(((next() >> 32U) * n) >> 32U);
  }
  bool chance(double p) { return static_cast<double>(next() >> 11U) * 0x1p-53 < p; }

 private:
  std::uint64_t state_;
};

enum class Flavour : std::uint8_t { kSerial, kRacy };

struct WorkloadOptions {
  Flavour flavour = Flavour::kSerial;
  std::uint64_t events = 0;
  std::uint64_t seed = 1;
  bool unique_locations = false;  // every event its own, instead of 100 methods of 50 lines
};

class Workload {
 public:
  Workload(const Shape& shape, const WorkloadOptions& options);

  // The next events of the trace, at most `limit`; none at its end. The whole trace has exactly
  // `options.events`.
  void next(std::vector<Event>& events, std::size_t limit);

 private:
  enum class Phase : std::uint8_t { kOutside, kGaining, kGivingBack };

  struct Thread {
    Phase phase = Phase::kOutside;
    std::uint32_t depth = 0;
    std::uint32_t accesses_left = 0;       // in this phase
    std::uint32_t give_back_accesses = 0;  // in the second phase
    std::uint32_t locks_left = 0;          // to be acquired in this transaction
    std::uint32_t keep = 0;                // how many variables to hold on to until the end
    std::uint32_t method = 0;
    std::uint32_t line = 0;
    std::vector<VariableId> variables;
    std::vector<LockId> locks;
  };

  void step(ThreadId id);
  void step_outside(ThreadId id);
  void step_gaining(ThreadId id);
  void step_giving_back(ThreadId id);
  bool fill(ThreadId id);
  void close(ThreadId id);
  void close_last();

  void begin(ThreadId id);
  void end(ThreadId id);
  bool nest(ThreadId id);
  bool acquire(ThreadId id);
  void release(ThreadId id);
  bool access_any(ThreadId id, bool hold);
  void access_held(ThreadId id, std::size_t index);
  void access(ThreadId id, VariableId variable, bool write);
  void emit(ThreadId id, Op op, std::uint32_t object);

  VariableId pick_variable();
  bool want_write();
  bool may_read(ThreadId id, VariableId variable) const;
  bool may_write(ThreadId id, VariableId variable) const;
  void take(ThreadId id, VariableId variable, bool write);
  void give_back(ThreadId id, std::size_t index);

  Shape shape_;
  WorkloadOptions options_;
  Random random_;
  double begin_chance_;
  std::vector<Thread> threads_;
  std::vector<std::uint64_t> holders_;  // of each variable: a set of threads
  std::vector<std::uint8_t> writer_;    // of each variable: the one that holds it for writing
  std::vector<std::uint8_t> locked_;    // for each lock
  VariableId variable_sweep_ = 0;
  LockId lock_sweep_ = 0;
  std::uint64_t reads_ = 0;
  std::uint64_t writes_ = 0;
  std::uint64_t emitted_ = 0;
  std::uint64_t owed_ = 0;  // events that close what is open
  std::vector<Event>* out_ = nullptr;
};

}  // namespace tomos::bench
