// A schedule as it was on record: the thread that runs goes on, unless a choice says otherwise.
//
// Choices are bound to a thread and the number of its own steps, not to the steps of the trial:
// when some are taken out (a schedule is made smaller that way), the others keep their meaning. A
// choice whose thread does not come to its step any more is passed over.
#include "schedule/task.h"

namespace tomos::schedule {

namespace {

constexpr std::uint32_t kLongRun = 5000;
constinit std::uint32_t next_choice = 0;
constinit const Task* last = nullptr;

}  // namespace

void replay_begin() {
  next_choice = 0;
  last = nullptr;
}

Task* replay_choose(Task** enabled, std::size_t count, Task* current) {
  const Settings& settings = world.area->settings;
  // A thread that would keep the turn for ever gives it up here too.
  const bool too_long = current != nullptr && current->yielded &&
                        current->yielded_at == world.area->trial.steps &&
                        world.run_length >= kLongRun;
  Task* next = current != nullptr && !too_long ? current : enabled[0];
  if (too_long && next == current && count > 1) next = enabled[1];
  const std::uint32_t thread = last == nullptr ? ~0U : last->number;
  const std::uint32_t step = last == nullptr ? 0 : last->steps;
  const Choice* const choices = world.area->replayed;
  // Those of this thread that are behind it will not come any more.
  while (next_choice < settings.choice_count && next_choice < kMaxChoices &&
         choices[next_choice].thread == thread && choices[next_choice].step < step) {
    ++next_choice;
  }
  if (next_choice < settings.choice_count && next_choice < kMaxChoices &&
      choices[next_choice].thread == thread && choices[next_choice].step == step) {
    const std::uint32_t wanted = choices[next_choice].next;
    ++next_choice;
    bool found = false;
    for (std::size_t i = 0; i < count; ++i) {
      if (enabled[i]->number == wanted) {
        next = enabled[i];
        found = true;
      }
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
