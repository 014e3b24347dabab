// The strategies behind one interface: of those that can go on, who does?
//
// What they have in common is here: who has yielded stands back as long as others can go on, so
// that a loop that waits for another thread lets it come. And every choice that differs from the
// rule in area.h is put on record.
#include "schedule/task.h"

namespace tomos::schedule {

namespace {

Strategy strategy() { return world.area->settings.strategy; }

Task* round_robin(Task** enabled, std::size_t count, const Task* last) {
  for (std::size_t i = 0; i < count; ++i) {
    if (last != nullptr && enabled[i]->number > last->number) return enabled[i];
  }
  return enabled[0];
}

constinit const Task* last_chosen = nullptr;

void limit_run(Task* current) {
  if (current == nullptr || current != world.last_run) {
    world.run_length = 0;
  } else if (++world.run_length % kLongRun == 0) {
    stand_back(*current);
  }
  world.last_run = current;
}

// Those that did not say that others should go on; all if all did.
std::size_t without_yielded(Task** enabled, std::size_t count) {
  const std::uint64_t steps = world.area->trial.steps;
  bool any = false;
  for (std::size_t i = 0; i < count; ++i) {
    // It has its chance again when somebody else has done something.
    if (enabled[i]->yielded && enabled[i]->yielded_at < steps) enabled[i]->yielded = false;
    any |= !enabled[i]->yielded;
  }
  if (!any) return count;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!enabled[i]->yielded) enabled[kept++] = enabled[i];
  }
  return kept;
}

// Everybody goes on to where it matters; only then is there something to choose.
Task* first_untelling(Task** enabled, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_telling(enabled[i]->next)) return enabled[i];
  }
  return nullptr;
}

void record_choice(const Task* last, const Task& by_rule, const Task& next, bool preempts) {
  if (&by_rule == &next) return;
  Trial& trial = world.area->trial;
  if (trial.choice_count == kMaxChoices) {
    trial.flags |= kChoicesLost;
    return;
  }
  world.area->choices[trial.choice_count++] = {.thread = last == nullptr ? ~0U : last->number,
                                               .step = last == nullptr ? 0 : last->steps,
                                               .next = next.number,
                                               .preempts = preempts ? 1U : 0U};
}

}  // namespace

void stand_back(Task& task) {
  task.yielded = true;
  task.yielded_at = world.area->trial.steps;
  if (strategy() == Strategy::kPct) pct_yield(task);
}

void begin_strategy() {
  switch (strategy()) {
    case Strategy::kPct:
      pct_begin();
      break;
    case Strategy::kReplay:
      replay_begin();
      break;
    case Strategy::kRandom:
    case Strategy::kAtomFuzzer:
    case Strategy::kPos:
    case Strategy::kRoundRobin:
    case Strategy::kWalk:
      break;
    case Strategy::kCut:
      cut_begin();
      break;
    case Strategy::kAim:
      aim_begin();
      break;
    case Strategy::kFollow:
      follow_begin();
      break;
  }
}

void task_joined_in(Task& task) {
  if (strategy() == Strategy::kPct) pct_join(task);
  if (strategy() == Strategy::kPos) pos_assign(task);
  if (strategy() == Strategy::kCut) cut_join(task);
}

// With what is expected of all threads known, all their interleavings are equally likely this way,
// as far as they do not wait for one another. A choice with equal chances runs short threads to
// their end while long ones have hardly begun.
Task* weighted(Task** enabled, std::size_t count) {
  if (count == 1) return enabled[0];
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += expected_work(*enabled[i]);
  std::uint64_t at = sum == 0 ? 0 : world.chance.next() % sum;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const std::uint64_t work = expected_work(*enabled[i]);
    if (at < work) return enabled[i];
    at -= work;
  }
  return enabled[count - 1];
}

Task& choose(Task** enabled, std::size_t count, Task* current) {
  Task* const by_rule = current != nullptr ? current : enabled[0];
  const Task* const last = last_chosen;
  Task* next = by_rule;
  limit_run(current);
  if (strategy() == Strategy::kReplay) {
    next = replay_choose(enabled, count, current);
  } else if (strategy() == Strategy::kFollow) {
    next = follow_choose(enabled, count, current);
  } else if (Task* const first = world.profiled ? first_untelling(enabled, count) : nullptr;
             first != nullptr) {
    next = first;
  } else {
    const std::size_t kept = without_yielded(enabled, count);
    switch (strategy()) {
      case Strategy::kRandom:
        next = enabled[kept == 1 ? 0 : world.chance.below(static_cast<std::uint32_t>(kept))];
        break;
      case Strategy::kAtomFuzzer:
        next = atomfuzzer_choose(enabled, kept, world.area->settings.pause_probability);
        break;
      case Strategy::kPct:
        next = pct_choose(enabled, kept);
        break;
      case Strategy::kPos:
        next = pos_choose(enabled, kept);
        break;
      case Strategy::kRoundRobin:
        next = round_robin(enabled, kept, current);
        break;
      case Strategy::kWalk:
        next = weighted(enabled, kept);
        break;
      case Strategy::kCut:
        next = cut_choose(enabled, kept, current);
        break;
      case Strategy::kAim:
        next = aim_choose(enabled, kept, current);
        break;
      case Strategy::kReplay:
      case Strategy::kFollow:
        break;
    }
  }
  record_choice(last, *by_rule, *next, current != nullptr);
  last_chosen = next;
  return *next;
}

void step_done(Task& task) {
  profile_step(task);
  if (task.next.kind == Kind::kYield) stand_back(task);
  if (strategy() == Strategy::kPos) pos_done(task);
  if (strategy() == Strategy::kCut) cut_done(task, nullptr);
  if (strategy() == Strategy::kAim) aim_done(task);
  if (strategy() == Strategy::kFollow) follow_done(task);
}

}  // namespace tomos::schedule
