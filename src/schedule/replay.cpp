// A schedule as it was on record: the thread that runs goes on, unless a choice says otherwise.
//
// Choices are bound to a thread and the number of its own steps, not to the steps of the trial:
// when some are taken out (a schedule is made smaller that way), the others keep their meaning. A
// choice whose thread does not come to its step any more is passed over.
#include "schedule/task.h"

namespace tomos::schedule {

namespace {

// A choice that does not come up at once may come up later, but not much.
constexpr std::uint32_t kLookAhead = 256;

constinit std::uint32_t first_open = 0;  // all before it have come up
constinit std::uint64_t used[kMaxChoices / 64] = {};
constinit const Task* last = nullptr;

bool is_used(std::uint32_t choice) { return (used[choice / 64] >> (choice % 64) & 1) != 0; }

// The choice for this moment; nullptr: there is none.
const Choice* find_choice(std::uint32_t thread, std::uint32_t step) {
  const std::uint32_t asked = world.area->settings.choice_count;
  const std::uint32_t count = asked < kMaxChoices ? asked : kMaxChoices;
  while (first_open < count && is_used(first_open)) ++first_open;
  for (std::uint32_t i = first_open; i < count && i < first_open + kLookAhead; ++i) {
    const Choice& choice = world.area->replayed[i];
    if (is_used(i) || choice.thread != thread || choice.step != step) continue;
    used[i / 64] |= std::uint64_t{1} << (i % 64);
    return &choice;
  }
  return nullptr;
}

}  // namespace

void replay_begin() {
  first_open = 0;
  last = nullptr;
}

Task* replay_choose(Task** enabled, std::size_t count, Task* current) {
  // A thread that would keep the turn for ever gives it up here too.
  const bool too_long = current != nullptr && current->yielded &&
                        current->yielded_at == world.area->trial.steps &&
                        world.run_length >= kLongRun;
  Task* next = current != nullptr && !too_long ? current : enabled[0];
  if (too_long && next == current && count > 1) next = enabled[1];
  const Choice* const choice =
      find_choice(last == nullptr ? ~0U : last->number, last == nullptr ? 0 : last->steps);
  if (choice != nullptr) {
    bool found = false;
    for (std::size_t i = 0; i < count; ++i) {
      if (enabled[i]->number != choice->next) continue;
      next = enabled[i];
      found = true;
    }
    Trial& trial = world.area->trial;
    if (!found && (trial.flags & kDiverged) == 0) {
      trial.flags |= kDiverged;
      trial.diverged_at = trial.steps;
    }
  }
  last = next;
  return next;
}

}  // namespace tomos::schedule
