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
constinit bool inside = false;          // it was in the call of the stretch when it last moved
constinit std::uint64_t program_bias = 0;

int take_bias(dl_phdr_info* info, std::size_t, void* /*unused*/) {
  program_bias = info->dlpi_addr;
  return 1;  // the first is the program
}

bool is_in(const Stretch& stretch, Address pc) {
  const std::uint64_t in_file = pc - 1 - program_bias;  // pc: where the call returns to
  for (std::uint32_t i = 0; i < stretch.range_count; ++i) {
    const CodeRange& range = world.area->ranges[(stretch.first_range + i) % kMaxRanges];
    if (range.begin <= in_file && in_file < range.end) return true;
  }
  return false;
}

// What it does next is done by the code of the stretch, or by what that has called.
bool is_under(const Stretch& stretch, const Task& task) {
  if (is_in(stretch, task.next.pc)) return true;
  for (std::uint32_t i = 0; i < task.caller_count; ++i) {
    if (is_in(stretch, task.callers[i])) return true;
  }
  return false;
}

// To lock for reading, and to try, is to lock.
Kind told_kind(Kind kind) {
  return kind == Kind::kTryLock || kind == Kind::kReadLock ? Kind::kLock : kind;
}

bool is_step_of(const Stretch& stretch, const Task& task) {
  if (told_kind(task.next.kind) != stretch.kind) return false;
  if (stretch.range_count == 0) return true;
  const bool is_atomic = stretch.kind == Kind::kAtomicRead || stretch.kind == Kind::kAtomicWrite;
  return is_atomic ? is_under(stretch, task) : is_in(stretch, task.next.pc);
}

const Task* task_numbered(std::uint32_t number) {
  for (std::size_t i = 0; i < world.task_count; ++i) {
    if (world.tasks[i]->number == number) return world.tasks[i];
  }
  return nullptr;
}

void next_stretch() {
  world.area->trial.followed = ++stretch_at;
  times_done = steps_on_it = own_steps = 0;
  inside = false;
}

// A wait is a step only when it is over; but a stretch ends where it begins. Who waits already must
// have been woken up first; but who has come to a barrier and waits has come there just now.
bool has_begun_to_wait(const Stretch& stretch, const Task* task) {
  const bool waits = stretch.kind == Kind::kWait || stretch.kind == Kind::kBarrier;
  if (!waits || task == nullptr || task->next.kind != stretch.kind) return false;
  return own_steps > 0 || (stretch.kind == Kind::kBarrier && !task->notified);
}

// A call, of which only the line is known, is over when the thread is about to do something else;
// or when it can do no more there, because it waits for others.
bool has_called(const Stretch& stretch, const Task* task, bool can_go_on) {
  if (stretch.kind != Kind::kNone || task == nullptr || !inside) return false;
  if (is_under(stretch, *task) && can_go_on) return false;
  inside = false;
  return ++times_done >= stretch.times;
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
  inside = false;
  dl_iterate_phdr(take_bias, nullptr);
}

Task* follow_choose(Task** enabled, std::size_t count, Task* current) {
  const std::uint64_t asked = world.area->stretch_count;
  const std::uint64_t stretches = asked < kMaxStretches ? asked : kMaxStretches;
  while (stretch_at < stretches) {
    const Stretch& stretch = world.area->stretches[stretch_at];
    const Task* const task = task_numbered(stretch.thread);
    Task* next = nullptr;
    for (std::size_t i = 0; i < count; ++i) {
      if (enabled[i]->number == stretch.thread) next = enabled[i];
    }
    if (times_done >= stretch.times || has_begun_to_wait(stretch, task) ||
        has_called(stretch, task, next != nullptr)) {
      next_stretch();
      continue;
    }
    const bool has_ended = stretch.thread < world.tasks_made && task == nullptr;
    if (has_ended || steps_on_it > kLongRun) {
      give_up();
      continue;
    }
    if (next != nullptr) return next;
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
  if (stretch.kind == Kind::kNone) {
    inside = is_under(stretch, task);
  } else if (stretch.kind != Kind::kWait && is_step_of(stretch, task)) {
    // The program may end before anybody is chosen again.
    if (++times_done >= stretch.times) world.area->trial.followed = stretch_at + 1U;
  }
}

}  // namespace tomos::schedule
