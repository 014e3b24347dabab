// Partial order sampling (Yuan, Yang, Gu, CAV 2018).
//
// Every step that a thread is about to do has a random priority, and the highest goes first. When a
// step is done, those that race with it draw again: so what is independent does not use up chances,
// and the orders of what is not are met more evenly than by a choice at every step.
#include "schedule/task.h"

namespace tomos::schedule {

void pos_assign(Task& task) { task.priority = world.chance.next(); }

Task* pos_choose(Task** enabled, std::size_t count) {
  Task* best = enabled[0];
  for (std::size_t i = 1; i < count; ++i) {
    if (enabled[i]->priority > best->priority) best = enabled[i];
  }
  return best;
}

void pos_done(const Task& task) {
  for (std::size_t i = 0; i < world.task_count; ++i) {
    Task& other = *world.tasks[i];
    if (&other == &task || conflicts(other.next, task.next)) pos_assign(other);
  }
}

}  // namespace tomos::schedule
