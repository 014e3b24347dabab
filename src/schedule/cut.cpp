// Cuts: every thread is stopped once, before a step of its own drawn at random, and goes on when
// another thread has come in between.
//
// What makes a block of code not atomic is a step of another thread between two of its steps. So
// each thread draws one of the steps that others could notice (profile.cpp says how many it has)
// and waits before it until another thread has done something that conflicts with that step, or
// until nobody else can go on. Otherwise threads run as long as they can. Compared to priorities
// that change at random moments of the whole run (pct.cpp), a thread that does little is cut as
// often as one that does much, and no cut is wasted on a thread that has come to its end.
#include "schedule/task.h"

namespace tomos::schedule {

namespace {

// Drawn for each trial.
constinit std::uint32_t uncut = 0;    // of four threads, so many are left alone
constinit bool last_begins = false;   // the thread that came last goes first
constinit bool before_first = false;  // also before the first step, which says who begins

bool is_at_cut(const Task& task) {
  return task.cut != 0 && !task.cut_over && task.telling_steps + 1 == task.cut;
}

}  // namespace

void cut_begin() {
  uncut = world.chance.below(4);
  last_begins = world.chance.below(2) == 0;
  before_first = world.chance.below(2) == 0;
}

void cut_join(Task& task) {
  const Profile& profile = world.area->profile;
  std::uint32_t steps = 16;
  if (task.number < kMaxProfiled && task.number < profile.thread_count) {
    steps = profile.thread_steps[task.number];
  }
  if (steps == 0 || world.chance.below(4) < uncut) return;
  task.cut = before_first || steps == 1 ? 1 + world.chance.below(steps)
                                        : 2 + world.chance.below(steps - 1);
}

Task* cut_choose(Task** enabled, std::size_t count, Task* current) {
  std::size_t free = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (enabled[i]->urgent) {
      enabled[i]->urgent = false;
      return enabled[i];
    }
    // A thread that goes round for ever may never come to what the other waits for.
    if (is_at_cut(*enabled[i]) && ++enabled[i]->paused_for > kLongPause) {
      enabled[i]->cut_over = true;
    }
    if (!is_at_cut(*enabled[i])) {
      Task* const moved = enabled[free];
      enabled[free++] = enabled[i];
      enabled[i] = moved;
    }
  }
  if (free == 0) {
    Task* const next = enabled[world.chance.below(static_cast<std::uint32_t>(count))];
    next->cut_over = true;
    return next;
  }
  for (std::size_t i = 0; i < free; ++i) {
    if (enabled[i] == current && (current->has_told || last_begins)) return current;
  }
  return enabled[world.chance.below(static_cast<std::uint32_t>(free))];
}

// Another thread has done a step, or given a lock back.
void cut_done(const Task& task, const volatile void* released) {
  for (std::size_t i = 0; i < world.task_count; ++i) {
    Task& other = *world.tasks[i];
    if (&other == &task || other.state != State::kReady || !is_at_cut(other)) continue;
    const bool lock = other.next.kind == Kind::kLock || other.next.kind == Kind::kReadLock;
    const bool meets = lock ? released != nullptr && other.next.object == released
                            : released == nullptr && conflicts(other.next, task.next);
    // The other may have more to do before it is the worst moment.
    if (!meets || world.chance.below(2) == 0) continue;
    other.cut_over = true;
    other.urgent = true;
  }
}

}  // namespace tomos::schedule
