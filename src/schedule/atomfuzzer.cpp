// AtomFuzzer (Park and Sen, FSE 2008), Algorithm 2: random, but a thread that is about to make a
// violation possible waits for somebody to make it real.
//
// Inside an atomic block, before a lock is taken that the block has taken and given back before,
// the thread is paused with probability q, until another thread has had the lock; then it goes on
// at once. As the paper's algorithm, but
//   - with probability 1-q the thread takes the lock (the paper's line 16 forgets it);
//   - the thread goes on after the other's release, not after its acquire: it could not before;
//   - the second trigger: an access, or an atomic operation, to a variable that the block has
//     touched before. It waits for an access of another thread that conflicts with it. Without it
//     violations of two locks, the wrong lock or none are met by chance only;
//   - a pause is over after some steps of others: a thread that has been waiting for long gives way
//     to other chances, as the paper's monitor thread does (section 4).
#include "schedule/task.h"

namespace tomos::schedule {

namespace {

bool is_access(Kind kind) { return kind >= Kind::kAtomicRead && kind <= Kind::kWrite; }

// Would this step end the pause of the other?
bool is_awaited_by(const Task& task, const Task& paused) {
  if (task.next.object != paused.next.object) return false;
  return is_access(paused.next.kind) ? is_access(task.next.kind) : true;
}

void end_pause(Task& task, bool urgent) {
  task.paused = false;
  task.urgent = urgent;
}

}  // namespace

Task* atomfuzzer_choose(Task** enabled, std::size_t count, double pause_probability) {
  for (std::size_t i = 0; i < count; ++i) {
    if (enabled[i]->urgent) {
      enabled[i]->urgent = false;
      return enabled[i];
    }
  }
  for (;;) {
    std::size_t free = 0;
    for (std::size_t i = 0; i < count; ++i) {
      Task& task = *enabled[i];
      if (task.paused && ++task.paused_for > kLongPause) end_pause(task, false);
      if (!task.paused) ++free;
    }
    if (free == 0) {
      end_pause(*enabled[world.chance.below(static_cast<std::uint32_t>(count))], false);
      continue;
    }
    std::size_t last = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (enabled[i]->paused) continue;
      Task* const moved = enabled[last];
      enabled[last++] = enabled[i];
      enabled[i] = moved;
    }
    Task* const next = weighted(enabled, free);
    if (!next->decided && is_second_touch(*next)) {
      next->decided = true;
      if (count > 1 && world.chance.with_probability(pause_probability)) {
        next->paused = true;
        next->paused_for = 0;
        continue;
      }
    }
    // An access is over at once; a lock when it is given back.
    if (is_access(next->next.kind)) {
      for (std::size_t i = 0; i < world.task_count; ++i) {
        Task& task = *world.tasks[i];
        if (task.paused && &task != next && is_awaited_by(*next, task) &&
            conflicts(next->next, task.next)) {
          end_pause(task, true);
        }
      }
    }
    return next;
  }
}

void atomfuzzer_released(const void* lock) {
  for (std::size_t i = 0; i < world.task_count; ++i) {
    Task& task = *world.tasks[i];
    if (task.paused && &task != self && task.next.object == lock) end_pause(task, true);
  }
}

}  // namespace tomos::schedule
