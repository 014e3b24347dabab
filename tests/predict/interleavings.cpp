#include "interleavings.h"

#include <algorithm>
#include <numeric>

namespace tomos::predict {

Interleavings::Interleavings(const Model& model) : model_(model) {
  std::size_t states = 1;
  for (const std::vector<Step>& steps : model_.threads) {
    strides_.push_back(states);
    last_ += states * steps.size();
    states *= steps.size() + 1;
    if (steps.size() > kMaxSteps || states > kMaxStates) {
      fits_ = false;
      return;
    }
  }
  for (const std::vector<Step>& steps : model_.threads) {
    std::vector<Held>& held = held_.emplace_back(model_.locks);
    std::vector<std::pair<unsigned, unsigned>> depth(model_.locks);
    for (const Step& step : steps) {
      if (step.op == Op::kAcquire) ++depth[step.object].first;
      if (step.op == Op::kRelease) --depth[step.object].first;
      if (step.op == Op::kReadAcquire) ++depth[step.object].second;
      if (step.op == Op::kReadRelease) --depth[step.object].second;
      for (const auto& [write, read] : depth)
        held.push_back({.write = write > 0, .read = read > 0});
    }
  }
  states_.resize(states);
  states_[0] = kReached;
  states_[last_] |= kCompletes;
  for (std::size_t state = 0; state < states; ++state) {
    if ((states_[state] & kReached) == 0) continue;
    const Positions at = positions(state);
    for (ThreadId t = 0; t < at.size(); ++t) {
      if (enabled(at, t)) states_[state + strides_[t]] |= kReached;
    }
  }
  for (std::size_t state = states; state-- > 0;) {
    if ((states_[state] & kReached) == 0) continue;
    const Positions at = positions(state);
    for (ThreadId t = 0; t < at.size(); ++t) {
      if (enabled(at, t)) states_[state] |= states_[state + strides_[t]] & kCompletes;
    }
  }
}

std::size_t Interleavings::index(std::span<const std::uint8_t> positions) const {
  std::size_t index = 0;
  for (std::size_t t = 0; t < strides_.size(); ++t) index += positions[t] * strides_[t];
  return index;
}

Positions Interleavings::positions(std::size_t index) const {
  Positions positions(strides_.size());
  for (std::size_t t = strides_.size(); t-- > 0;) {
    positions[t] = static_cast<std::uint8_t>(index / strides_[t]);
    index %= strides_[t];
  }
  return positions;
}

// Whether a thread stands before its next step or its end: forked, and past the barrier it came to.
bool Interleavings::ready(std::span<const std::uint8_t> positions, ThreadId thread) const {
  const std::optional<Place>& fork = model_.forked_by[thread];
  if (fork && !passed(positions, *fork)) return false;
  const std::size_t next = positions[thread];
  if (next == 0 || model_.threads[thread][next - 1].op != Op::kBarrier) return true;
  const std::uint32_t meeting = model_.threads[thread][next - 1].object;
  const auto arrived = [&](const Place& place) { return passed(positions, place); };
  return std::ranges::all_of(model_.meetings[meeting], arrived);
}

bool Interleavings::enabled(std::span<const std::uint8_t> positions, ThreadId thread) const {
  if (ended(positions, thread) || !ready(positions, thread)) return false;
  const Step& step = model_.threads[thread][positions[thread]];
  if (step.op == Op::kJoin) return ended(positions, step.object) && ready(positions, step.object);
  if (step.op == Op::kWait) {
    return std::ranges::all_of(model_.awaited[step.object],
                               [&](const Place& place) { return passed(positions, place); });
  }
  for (ThreadId other = 0; other < model_.threads.size(); ++other) {
    if (waits_for(positions, thread, other)) return false;
  }
  return true;
}

// For a lock.
bool Interleavings::waits_for(std::span<const std::uint8_t> positions, ThreadId waiter,
                              ThreadId holder) const {
  if (waiter == holder || ended(positions, waiter) || !ready(positions, waiter)) return false;
  const Step& step = model_.threads[waiter][positions[waiter]];
  if (step.op != Op::kAcquire && step.op != Op::kReadAcquire) return false;
  const Held hold = held(positions, holder, step.object);
  return hold.write || (hold.read && step.op == Op::kAcquire);
}

bool Interleavings::inside(std::span<const std::uint8_t> positions, ThreadId thread) const {
  const std::vector<Step>& steps = model_.threads[thread];
  const std::size_t next = positions[thread];
  return next > 0 && next < steps.size() && steps[next].transaction != kNone &&
         steps[next].transaction == steps[next - 1].transaction;
}

// Takes away who waits for nobody that is left, until only circles and those who wait for them are
// left.
bool Interleavings::circle(std::span<const std::uint8_t> positions) const {
  std::vector<ThreadId> left(model_.threads.size());
  std::iota(left.begin(), left.end(), ThreadId{0});
  const auto free = [&](ThreadId waiter) {
    return std::ranges::none_of(
        left, [&](ThreadId holder) { return waits_for(positions, waiter, holder); });
  };
  for (;;) {
    const auto gone = std::ranges::find_if(left, free);
    if (gone == left.end()) return !left.empty();
    left.erase(gone);
  }
}

Run Interleavings::run_to(std::size_t state) const {
  Run run;
  while (state != 0) {
    const Positions at = positions(state);
    for (ThreadId t = 0; t < at.size(); ++t) {
      if (at[t] == 0) continue;
      const std::size_t before = state - strides_[t];
      if ((states_[before] & kReached) == 0 || !enabled(positions(before), t)) continue;
      run.push_back(model_.threads[t][at[t] - 1U].event);
      state = before;
      break;
    }
  }
  std::ranges::reverse(run);
  return run;
}

// From where the run can complete.
void Interleavings::run_on(Positions at, Run& run) const {
  while (index(at) != last_) {
    for (ThreadId t = 0; t < at.size(); ++t) {
      if (!enabled(at, t)) continue;
      ++at[t];
      if (completes(at)) {
        run.push_back(model_.threads[t][at[t] - 1U].event);
        break;
      }
      --at[t];
    }
  }
}

std::optional<Run> Interleavings::deadlock(bool by_locks) const {
  for (std::size_t state = 0; state < states_.size(); ++state) {
    if ((states_[state] & kReached) == 0 || state == last_) continue;
    const Positions at = positions(state);
    // A circle is a deadlock even if others can still move.
    bool stuck = true;
    for (ThreadId t = 0; t < at.size() && stuck && !by_locks; ++t) stuck = !enabled(at, t);
    if (by_locks ? circle(at) : stuck) return run_to(state);
  }
  return std::nullopt;
}

std::optional<Interleavings::Race> Interleavings::race() const {
  for (std::size_t state = 0; state < states_.size(); ++state) {
    if ((states_[state] & kReached) == 0) continue;
    Positions at = positions(state);
    for (ThreadId a = 0; a < at.size(); ++a) {
      for (ThreadId b = 0; b < a; ++b) {
        if (!enabled(at, a) || !enabled(at, b)) continue;
        const Step& x = model_.threads[a][at[a]];
        const Step& y = model_.threads[b][at[b]];
        const bool conflict = is_access(x.op) && is_access(y.op) && x.object == y.object &&
                              (x.op == Op::kWrite || y.op == Op::kWrite);
        if (!conflict || (states_[state + strides_[a] + strides_[b]] & kCompletes) == 0) continue;
        Race race{.run = run_to(state), .first = x.event, .second = y.event};
        race.run.push_back(x.event);
        race.run.push_back(y.event);
        ++at[a];
        ++at[b];
        run_on(at, race.run);
        return race;
      }
    }
  }
  return std::nullopt;
}

bool Interleavings::in_this_order(std::span<const std::size_t> events) const {
  // Where each of them is, in their order.
  std::vector<Place> places(events.size(), {.thread = 0, .position = kNone});
  for (ThreadId t = 0; t < model_.threads.size(); ++t) {
    for (std::size_t p = 0; p < model_.threads[t].size(); ++p) {
      const auto found = std::ranges::find(events, model_.threads[t][p].event);
      if (found != events.end()) {
        places[static_cast<std::size_t>(found - events.begin())] = {.thread = t, .position = p};
      }
    }
  }
  std::vector<bool> reached(states_.size());
  reached[0] = true;
  for (std::size_t state = 0; state < reached.size(); ++state) {
    if (!reached[state]) continue;
    const Positions at = positions(state);
    const auto due =
        std::ranges::find_if(places, [&](const Place& place) { return !passed(at, place); });
    for (ThreadId t = 0; t < at.size(); ++t) {
      const auto its = std::ranges::find_if(
          places, [&](const Place& place) { return place.thread == t && place.position == at[t]; });
      if ((its == places.end() || its == due) && enabled(at, t))
        reached[state + strides_[t]] = true;
    }
  }
  return reached[last_];
}

}  // namespace tomos::predict
