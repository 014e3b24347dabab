// All interleavings of a model: which states of the threads can be reached, and what that says
// about deadlock, races and the order of events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model.h"

namespace tomos::predict {

// The next step of each thread. Who holds which lock, who has been forked and who waits follow from
// it.
using Positions = std::vector<std::uint8_t>;

// A run, as the events of the observed trace in its own order.
using Run = std::vector<std::size_t>;

class Interleavings {
 public:
  // What a model may have at most: steps of a thread, and states of all threads together.
  static constexpr std::size_t kMaxSteps = 250;
  static constexpr std::size_t kMaxStates = std::size_t{1} << 24U;

  explicit Interleavings(const Model& model);

  // False: too big to look at all of them. Nothing else may be asked then.
  bool fits() const { return fits_; }

  const Model& model() const { return model_; }

  bool enabled(std::span<const std::uint8_t> positions, ThreadId thread) const;

  // Whether a thread stands between two steps of one transaction.
  bool inside(std::span<const std::uint8_t> positions, ThreadId thread) const;

  // Whether a run from the start can be here and go on to the end.
  bool completes(std::span<const std::uint8_t> positions) const {
    const std::uint8_t state = states_[index(positions)];
    return (state & kReached) != 0 && (state & kCompletes) != 0;
  }

  // A run that gets stuck. If `by_locks`: with threads that wait for each other's locks in a
  // circle.
  std::optional<Run> deadlock(bool by_locks) const;

  // A complete run in which the two events, conflicting accesses of different threads, stand side
  // by side.
  struct Race {
    Run run;
    std::size_t first = 0;
    std::size_t second = 0;
  };
  std::optional<Race> race() const;

  // Whether some complete run has these events in this order.
  bool in_this_order(std::span<const std::size_t> events) const;

 private:
  static constexpr std::uint8_t kReached = 1;
  static constexpr std::uint8_t kCompletes = 2;

  struct Held {
    bool write = false;
    bool read = false;
  };

  std::size_t index(std::span<const std::uint8_t> positions) const;
  Positions positions(std::size_t index) const;
  Held held(std::span<const std::uint8_t> positions, ThreadId thread, LockId lock) const {
    return held_[thread][positions[thread] * model_.locks + lock];
  }
  bool passed(std::span<const std::uint8_t> positions, const Place& place) const {
    return place.position != kNone && positions[place.thread] > place.position;
  }
  bool ended(std::span<const std::uint8_t> positions, ThreadId thread) const {
    return positions[thread] == model_.threads[thread].size();
  }
  bool ready(std::span<const std::uint8_t> positions, ThreadId thread) const;
  bool waits_for(std::span<const std::uint8_t> positions, ThreadId waiter, ThreadId holder) const;
  bool circle(std::span<const std::uint8_t> positions) const;
  Run run_to(std::size_t state) const;
  void run_on(Positions at, Run& run) const;

  Model model_;
  bool fits_ = true;
  std::vector<std::size_t> strides_;
  std::size_t last_ = 0;                 // the state in which all is done
  std::vector<std::vector<Held>> held_;  // for each thread, position and lock
  // By index. A step leads to a higher index, so one pass upwards finds what can be reached and one
  // downwards what completes.
  std::vector<std::uint8_t> states_;
};

}  // namespace tomos::predict
