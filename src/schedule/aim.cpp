// Aims: makes happen what an earlier trial showed to be possible.
//
// Trials before the campaign put on record who did what (profile.cpp), and the campaign finds in it
// two steps of a thread between which steps of another could come, such that no serial order
// explains it (campaign/aims.cpp). A trial takes one of them: the thread goes on to before the
// second step and is held there; the other, which was brought to its part beforehand, does it; then
// the first goes on. To bring the other there first is what chance hardly ever does: what it does
// before its part often needs the locks that the first thread holds by then. If it does not, the
// other is mostly brought to where it was on record when the first came to be cut: what it does
// after that may keep the first from ever coming there.
//
// If that cannot be done, because somebody waits for one that is held, the aim is given up, and the
// trial goes on by chance.
//
// A trial that is to tell whether an aim is worth more of them (campaign/plan.cpp) does just that;
// the others now and then do something else on the way, or hold the first thread for longer.
#include "schedule/task.h"

namespace tomos::schedule {

namespace {

constexpr double kPauseAfter = 0.2;

// Drawn for each trial.
constinit bool other_first = false;    // the other thread is brought there before all else:
constinit Mark until = {};             // to its part, or to where it was on record
constinit bool by_chance = false;      // anybody who is not held goes on, on the way to the aim
constinit bool rest_first = false;     // third threads do what they can before the two
constinit bool to_the_end = false;     // the first is held as long as anybody else can go on
constinit bool without_break = false;  // in the end threads go on as long as they can
constinit bool pausing = false;        // or by AtomFuzzer

constinit bool over = false;
constinit std::uint32_t held_for = 0;   // steps of others
constinit std::uint32_t rest_went = 0;  // steps
constinit std::uint32_t spun = 0;       // steps of the two, perhaps in wait for a third
constinit std::uint32_t done_cut = 0;   // how often the threads were at the places of the marks
constinit std::uint32_t done_until = 0;
constinit std::uint32_t done_to = 0;

const Aim& aim() { return world.area->aim; }

bool is_at(const Mark& mark, const Task& task) {
  return task.number == mark.thread && task.place == mark.place;
}

bool is_before(const Mark& mark, std::uint32_t done, const Task& task) {
  return is_at(mark, task) && done + 1 == mark.nth;
}

Task* task_of_mark(const Mark& mark) {
  for (std::size_t i = 0; i < world.task_count; ++i) {
    if (world.tasks[i]->number == mark.thread) return world.tasks[i];
  }
  return nullptr;
}

Task* any_but(Task** enabled, std::size_t count, const Task* one, const Task* other) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (enabled[i] == one || enabled[i] == other) continue;
    Task* const moved = enabled[kept];
    enabled[kept++] = enabled[i];
    enabled[i] = moved;
  }
  return kept == 0 ? nullptr : weighted(enabled, kept);
}

bool is_among(Task** enabled, std::size_t count, const Task* task) {
  for (std::size_t i = 0; i < count; ++i) {
    if (task != nullptr && enabled[i] == task) return true;
  }
  return false;
}

// It has done far more than ever on record: it goes round and round, perhaps in wait for a third.
bool is_lost(const Task& task) {
  const Profile& profile = world.area->profile;
  const std::uint32_t known =
      task.number < profile.thread_count ? profile.thread_steps[task.number] : 0;
  return task.telling_steps > 2 * known + kLongPause;
}

// Who goes on on the way to the aim; nullptr: it has come about, or cannot.
Task* on_the_way(Task** enabled, std::size_t count) {
  Task* const first = task_of_mark(aim().cut);
  Task* const other = task_of_mark(aim().from);
  const bool first_there =
      first != nullptr && first->state == State::kReady && is_before(aim().cut, done_cut, *first);
  const bool other_there =
      other != nullptr && other->state == State::kReady && is_before(until, done_until, *other);
  const bool first_can = is_among(enabled, count, first) && !first_there;
  const bool other_can = is_among(enabled, count, other) && (!other_there || first_there);
  const bool come_about = done_to >= aim().to.nth;
  if (first_there && ++held_for > kLongPause) {
    over = true;
    return nullptr;
  }
  if (come_about && !to_the_end && first != nullptr) {
    // If it has to wait for a lock, it goes on as soon as that is free.
    over = is_among(enabled, count, first);
    first->urgent = !over;
    if (over) return first;
    if (other_can) return other;
  }
  if (come_about || by_chance) {
    const Task* const held = other_can ? nullptr : other;
    Task* const next = any_but(enabled, count, first_can ? nullptr : first, held);
    if (next == nullptr) over = true;
    return next;
  }
  if (rest_first && ++rest_went < kLongPause) {
    if (Task* const rest = any_but(enabled, count, first, other); rest != nullptr) return rest;
  }
  const bool other_next = first_there || (other_first && done_until < until.nth);
  if (other_next && other_can) return other;
  if (first_can) return first;
  if (other_can) return other;
  Task* const rest = any_but(enabled, count, first, other);
  if (rest == nullptr) over = true;
  return rest;
}

}  // namespace

void aim_begin() {
  const std::uint32_t way = world.chance.below(16);
  other_first = way < 13;
  by_chance = way == 13 || way == 14;
  until = aim().then.place != 0 && world.chance.below(3) != 0 ? aim().then : aim().from;
  rest_first = world.chance.below(4) == 0;
  to_the_end = world.chance.below(4) == 0;
  const std::uint32_t ending = world.chance.below(3);
  if (world.area->settings.log != 0) {
    other_first = true;
    by_chance = rest_first = to_the_end = false;
    if (aim().then.place != 0) until = aim().then;
  }
  without_break = ending == 0;
  pausing = ending == 1;
  over = aim().cut.place == 0;
}

Task* aim_choose(Task** enabled, std::size_t count, Task* current) {
  if (!over) {
    if (Task* const next = on_the_way(enabled, count); next != nullptr) return next;
  }
  if (pausing) return atomfuzzer_choose(enabled, count, kPauseAfter);
  if (without_break && is_among(enabled, count, current)) return current;
  return weighted(enabled, count);
}

void aim_done(const Task& task) {
  if (is_at(aim().cut, task)) ++done_cut;
  if (is_at(until, task)) ++done_until;
  if (is_at(aim().to, task)) ++done_to;
  const bool of_the_two = task.number == aim().cut.thread || task.number == aim().from.thread;
  const bool waits = task.next.kind == Kind::kYield || is_spinning(task);
  if (of_the_two && waits) ++spun;
  if (done_cut >= aim().cut.nth || spun > kLongPause || (of_the_two && is_lost(task))) over = true;
}

}  // namespace tomos::schedule
