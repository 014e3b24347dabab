// The books: who holds which lock, who waits for what.
#include "schedule/task.h"

namespace tomos::schedule {

// --- Locks.

void lock_taken(const void* lock, bool shared, Address pc) {
  const Place place = place_at(pc);
  Task& task = *self;
  const AtWork at_work;
  Object& object = object_at(lock);
  if (shared) {
    ++object.readers;
  } else if (object.holder == self) {
    ++object.times;
    return;
  } else {
    object.holder = self;
    object.times = 1;
  }
  object.taken = place;
  if (object.last.task != self) object.previous = object.last;
  object.last = {.task = self, .step = world.area->trial.steps, .pc = pc, .place = place};
  for (Address& held : task.held) {
    if (held != 0) continue;
    held = id(lock);
    break;
  }
  lock_is_used(object, task, pc);
  lock_taken_in_block(task, id(lock), object, pc);
}

namespace {

// Whether that was the last time it was held.
bool give_back(const void* lock) {
  const AtWork at_work;
  Object& object = object_at(lock);
  Task& holder = object.holder != nullptr ? *object.holder : *self;  // it may be another's to lock
  if (object.holder != nullptr) {
    if (--object.times > 0) return false;
    object.holder = nullptr;
  } else if (object.readers > 0) {
    --object.readers;
  } else {
    return false;
  }
  for (Address& held : holder.held) {
    if (held == id(lock)) held = 0;
  }
  lock_released_in_block(holder, id(lock));
  atomfuzzer_released(lock);
  if (world.area->settings.strategy == Strategy::kCut) cut_done(holder, lock);
  return true;
}

}  // namespace

namespace {

bool is_wanted(const void* lock) {
  const AtWork at_work;
  for (std::size_t i = 0; i < world.task_count; ++i) {
    const Task& task = *world.tasks[i];
    if (&task != self && task.state == State::kReady &&
        (task.next.object == lock || task.next.mutex == lock)) {
      return true;
    }
  }
  return false;
}

}  // namespace

void lock_given_back(const void* lock, Address pc) {
  if (!give_back(lock) || world.area->settings.fine_steps != 0) return;
  // Until the next step that matters nothing happens that others could notice, if all accesses are
  // seen; but somebody may have been waiting for just this. It is the same whatever the strategy: a
  // replay must have a turn where the trial had one.
  if (world.profiled && world.area->profile.accesses != 0 && !is_wanted(lock)) return;
  take_turn({.kind = Kind::kUnlock, .object = lock, .pc = pc});
}

void lock_given_back_to_wait(const void* mutex) { give_back(mutex); }

void lock_is_robust(const void* lock) {
  const AtWork at_work;
  object_at(lock).robust = true;
}

void lock_tried_in_vain() {
  const AtWork at_work;
  self->yielded = true;
  self->yielded_at = world.area->trial.steps;
}

bool is_holder(const void* lock) {
  const AtWork at_work;
  return object_at(lock).holder == self;
}

// --- Condition variables and futexes. First come, first woken.

namespace {

Task* first_waiting(Kind kind, const volatile void* object, std::uint32_t bits) {
  Task* first = nullptr;
  for (std::size_t i = 0; i < world.task_count; ++i) {
    Task& task = *world.tasks[i];
    if (task.next.kind != kind || task.next.object != object || task.notified ||
        task.wait_order == 0 || (task.bits & bits) == 0) {
      continue;
    }
    if (first == nullptr || task.wait_order < first->wait_order) first = &task;
  }
  return first;
}

std::uint32_t wake(Kind kind, const volatile void* object, std::uint32_t count,
                   std::uint32_t bits) {
  std::uint32_t woken = 0;
  while (woken < count) {
    Task* const task = first_waiting(kind, object, bits);
    if (task == nullptr) break;
    task->notified = true;
    ++woken;
  }
  return woken;
}

void begin_waiting(Kind kind, const volatile void* object, std::uint32_t bits) {
  const AtWork at_work;
  self->next.kind = kind;
  self->next.object = object;
  self->notified = false;
  self->wait_order = ++world.wait_order;
  self->bits = bits;
}

}  // namespace

void begin_wait(const void* condition) {
  begin_waiting(Kind::kWait, condition, 1);
  self->block.waits = true;
}

void condition_notified(const void* condition, bool all) {
  const AtWork at_work;
  wake(Kind::kWait, condition, all ? ~0U : 1, ~0U);
}

void begin_futex_wait(const volatile void* word, std::uint32_t bits) {
  begin_waiting(Kind::kFutexWait, word, bits);
}

std::uint32_t futex_woken(const volatile void* word, std::uint32_t count, std::uint32_t bits) {
  const AtWork at_work;
  return wake(Kind::kFutexWait, word, count, bits);
}

bool barrier_arrived(const void* barrier, std::uint32_t count) {
  begin_waiting(Kind::kBarrier, barrier, 1);
  const AtWork at_work;
  Object& object = object_at(barrier);
  if (++object.arrived < count) return false;
  object.arrived = 0;
  wake(Kind::kBarrier, barrier, ~0U, ~0U);
  return true;
}

}  // namespace tomos::schedule
