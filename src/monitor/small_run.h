// A short trace as a set of transactions, T: everything that decides which interleavings of it
// there are. What Theorem 5 is about; see serializability_solver.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "event/event.h"
#include "monitor/context.h"

namespace tomos {

struct SmallRun {
  struct Item {
    ThreadId thread;
    std::uint32_t unit;    // transaction; a lock operation outside any has one of its own
    std::uint32_t object;  // SharedId or LockId
    LocationId location;
    LocksetId held;  // at an access, after a lock operation
    PeriodId period;
    Op op;  // kRead, kWrite, kAcquire, kRelease

    bool is_access() const { return tomos::is_access(op); }
  };
  struct Unit {
    ThreadId thread;
    LabelId label;
    LocationId begin;
  };

  std::vector<Item> items;  // of each thread in its order
  std::vector<Unit> units;
};

// Keeps a trace as long as it is short.
class RunRecorder {
 public:
  explicit RunRecorder(std::size_t limit) : limit_(limit) {}

  // After context.take(event) has said what the event is.
  void record(const Event& event, Context::Step step, Context& context);

  // Nothing if the trace was too long.
  const SmallRun* run() const { return full_ ? nullptr : &run_; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::size_t limit_;
  bool full_ = false;
  SmallRun run_;
  std::vector<std::uint32_t> open_;  // unit of each thread
};

// Without what makes no difference: accesses to variables that are not shared for writing,
// accesses between the first and the last that can tell, locks of one thread only. With `only`,
// accesses to other variables as well.
SmallRun reduced(const SmallRun& run, std::optional<SharedId> only);

// The same with the accesses of two transactions only.
SmallRun only_units(const SmallRun& run, std::uint32_t a, std::uint32_t b);

// Whether a lock is held from one transaction to the next of its thread.
bool locks_span_transactions(const SmallRun& run);

}  // namespace tomos
