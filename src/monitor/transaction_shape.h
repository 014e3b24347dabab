// A transaction as the block analyses see it: its accesses to shared variables and its lock
// operations, in order. Transactions that look the same are one shape, kept once.
#pragma once

#include <cstddef>
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

  bool is_access() const { return tomos::is_access(op); }
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
  std::vector<Times> times;  // a thread may stand here more than once
  bool many_times = false;   // too many: not all are known

  void ran(ThreadId thread, std::uint64_t now) {
    constexpr std::size_t kMost = 64;
    constexpr std::size_t kFew = 8;
    for (std::size_t i = times.size(); i-- > 0 && i + kFew >= times.size();) {
      if (times[i].thread != thread) continue;
      times[i].last = now;
      return;
    }
    many_times |= times.size() == kMost;
    if (!many_times) times.push_back({.thread = thread, .first = now, .last = now});
  }
};

// Two shapes that look the same are one, whenever they ran.
bool operator==(const Shape& a, const Shape& b);
std::uint64_t hash_of(const Shape& shape);

// The locks held all the time from one step to another.
class HeldAcross {
 public:
  HeldAcross(const Shape& shape, Locksets& locksets);

  LocksetId operator()(std::size_t from, std::size_t to) const;

 private:
  const Shape* shape_;
  Locksets* locksets_;
  std::vector<std::uint32_t> changes_;  // for each step, the next where other locks are held
};

}  // namespace tomos
