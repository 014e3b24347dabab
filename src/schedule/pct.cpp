// Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010).
//
// Every thread gets a random priority, and the highest that can go on does. At d-1 random steps the
// thread that runs falls below all others. A bug that d ordering constraints make is met with
// probability at least 1/(n k^(d-1)) for n threads and k steps.
//
// The algorithm wants k beforehand. Unless earlier trials told it (profile.cpp), each of the random
// steps is drawn with a probability that falls with its number, so that short and long programs
// both have their share, and a trial is its seed and nothing else. Who yields or spins falls below
// all others as well: otherwise a loop that waits for a thread of lower priority would never end.
#include "schedule/task.h"

namespace tomos::schedule {

namespace {

constexpr std::uint32_t kMaxDepth = 32;
constexpr std::uint32_t kStepBits = 15;  // of the last step that can be drawn
constinit std::uint64_t change_points[kMaxDepth] = {};
constinit std::uint32_t change_count = 0;
constinit std::uint64_t lowest = 0;  // the next priority below all

constexpr std::uint64_t kInitial = std::uint64_t{1} << 62;  // initial priorities are above it

}  // namespace

void pct_begin() {
  const std::uint32_t depth = world.area->settings.depth;
  change_count = depth == 0 ? 0 : (depth - 1 < kMaxDepth ? depth - 1 : kMaxDepth);
  const std::uint64_t steps = world.area->profile.steps;
  for (std::uint32_t i = 0; i < change_count; ++i) {
    const std::uint32_t around = 1U << world.chance.below(kStepBits);
    change_points[i] = steps == 0 ? around + world.chance.below(around)
                                  : 1 + world.chance.below(static_cast<std::uint32_t>(steps));
  }
  lowest = kInitial - 1;
}

void pct_join(Task& task) { task.priority = kInitial + (world.chance.next() >> 2); }

void pct_yield(Task& task) { task.priority = lowest--; }

Task* pct_choose(Task** enabled, std::size_t count) {
  for (;;) {
    Task* best = enabled[0];
    for (std::size_t i = 1; i < count; ++i) {
      if (enabled[i]->priority > best->priority) best = enabled[i];
    }
    const std::uint64_t step = world.area->seen.steps;
    std::uint32_t due = change_count;
    for (std::uint32_t i = 0; i < change_count; ++i) {
      if (change_points[i] != 0 && change_points[i] <= step) due = i;
    }
    if (due == change_count || count == 1) return best;
    change_points[due] = 0;
    best->priority = lowest--;
  }
}

}  // namespace tomos::schedule
