// A transaction as the block analyses see it: its accesses to shared variables and its lock
// operations, in order. Transactions that look the same are one shape, kept once.
#pragma once

#include <cstdint>
#include <vector>

#include "event/event.h"
#include "monitor/locksets.h"
#include "monitor/shared_variables.h"
#include "monitor/thread_periods.h"

namespace tomos {

struct Step {
  std::uint32_t object;  // SharedId or LockId
  LocationId location;
  LocksetId held;  // mode locks held at an access, or after a lock operation
  Op op;           // kRead, kWrite, kAcquire, kRelease

  bool is_access() const { return op == Op::kRead || op == Op::kWrite; }
  friend bool operator==(const Step&, const Step&) = default;
};

using ShapeId = std::uint32_t;

struct Shape {
  LabelId label = 0;
  LocationId begin = 0;
  LocksetId outer = 0;  // held when it begins
  std::vector<Step> steps;
  PeriodSet periods;  // in which it ran

  // The first and the last time that a thread ran it, by a number that grows with every
  // transaction.
  struct Times {
    ThreadId thread;
    std::uint64_t first;
    std::uint64_t last;
  };
  std::vector<Times> times;

  void ran(ThreadId thread, std::uint64_t now) {
    for (Times& known : times) {
      if (known.thread != thread) continue;
      known.last = now;
      return;
    }
    times.push_back({.thread = thread, .first = now, .last = now});
  }

  LocksetId held_before(std::size_t step) const { return step == 0 ? outer : steps[step - 1].held; }
};

// The locks held all the time from one step to the other.
LocksetId held_across(const Shape& shape, std::size_t from, std::size_t to, Locksets& locksets);

}  // namespace tomos
