// A run that was thought out, and is to be done: stretch after stretch, each by one thread until it
// has come to a certain step. Neither where in the program's own count of steps that is nor what
// else the thread does on the way need be known.
//
// A thread that cannot go on (it waits for another) lets others go on by the usual rule. A stretch
// whose thread has ended, or goes on for very long, without the step is given up: the program went
// another way.
#include <link.h>

#include "schedule/task.h"

namespace tomos::schedule {

namespace {

constinit std::uint32_t stretch_at = 0;
constinit std::uint32_t times_done = 0;
constinit std::uint32_t steps_on_it = 0;
constinit std::uint32_t own_steps = 0;  // of the thread of the stretch
constinit std::uint64_t program_bias = 0;

int take_bias(dl_phdr_info* info, std::size_t, void* /*unused*/) {
  program_bias = info->dlpi_addr;
  return 1;  // the first is the program
}

bool is_step_of(const Stretch& stretch, const Turn& turn) {
  const Kind kind = turn.kind == Kind::kTryLock ? Kind::kLock : turn.kind;
  if (kind != stretch.kind) return false;
  if (stretch.range_count == 0) return true;
  const std::uint64_t in_file = turn.pc - 1 - program_bias;  // pc: where the call returns to
  for (std::uint32_t i = 0; i < stretch.range_count; ++i) {
    const CodeRange& range = world.area->ranges[(stretch.first_range + i) % kMaxRanges];
    if (range.begin <= in_file && in_file < range.end) return true;
  }
  return false;
}

const Task* task_numbered(std::uint32_t number) {
  for (std::size_t i = 0; i < world.task_count; ++i) {
    if (world.tasks[i]->number == number) return world.tasks[i];
  }
  return nullptr;
}

void next_stretch() {
  ++stretch_at;
  times_done = steps_on_it = own_steps = 0;
}

// A wait is a step only when it is over; but a stretch ends where it begins. Who waits already must
// have been woken up first.
bool has_begun_to_wait(const Stretch& stretch, const Task* task) {
  return stretch.kind == Kind::kWait && task != nullptr && task->next.kind == Kind::kWait &&
         own_steps > 0;
}

void give_up() {
  Trial& trial = world.area->trial;
  if ((trial.flags & kDiverged) == 0) {
    trial.flags |= kDiverged;
    trial.diverged_at = stretch_at;
  }
  next_stretch();
}

}  // namespace

void follow_begin() {
  stretch_at = times_done = steps_on_it = own_steps = 0;
  dl_iterate_phdr(take_bias, nullptr);
}

Task* follow_choose(Task** enabled, std::size_t count, Task* current) {
  const std::uint64_t asked = world.area->stretch_count;
  const std::uint64_t stretches = asked < kMaxStretches ? asked : kMaxStretches;
  while (stretch_at < stretches) {
    const Stretch& stretch = world.area->stretches[stretch_at];
    const Task* const task = task_numbered(stretch.thread);
    if (times_done >= stretch.times || has_begun_to_wait(stretch, task)) {
      next_stretch();
      continue;
    }
    const bool has_ended = stretch.thread < world.tasks_made && task == nullptr;
    if (has_ended || steps_on_it > kLongRun) {
      give_up();
      continue;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (enabled[i]->number == stretch.thread) return enabled[i];
    }
    break;
  }
  return current != nullptr ? current : enabled[0];
}

void follow_done(const Task& task) {
  if (stretch_at >= world.area->stretch_count || stretch_at >= kMaxStretches) return;
  const Stretch& stretch = world.area->stretches[stretch_at];
  ++steps_on_it;
  if (task.number != stretch.thread) return;
  ++own_steps;
  if (stretch.kind != Kind::kWait && is_step_of(stretch, task.next)) ++times_done;
}

}  // namespace tomos::schedule
