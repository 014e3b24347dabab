// What one trial tells the next: the places where it matters who goes first.
//
// These are: where a lock is taken that several threads take; where a variable is accessed that
// several threads access, that is written, and that no lock protects (as Eraser judges it). All the
// rest is independent of what other threads do, or ordered by the locks: to switch there is a waste
// of chances. A campaign runs a few trials to learn the places that matter, and then has only those
// as switching points. What each thread did in all is learnt as well: it tells a walk which threads
// have most before them.
#include "schedule/task.h"

namespace tomos::schedule {

namespace {

constexpr std::size_t kSlots = std::size_t{4} * kMaxPlaces;

// A set of places.
struct Places {
  Address slots[kSlots];
  bool contains(Address pc) const {
    std::size_t at = mixed(pc) % kSlots;
    while (slots[at] != 0 && slots[at] != pc) at = (at + 1) % kSlots;
    return slots[at] == pc;
  }
  // False: it was there.
  bool add(Address pc) {
    std::size_t at = mixed(pc) % kSlots;
    while (slots[at] != 0 && slots[at] != pc) at = (at + 1) % kSlots;
    if (slots[at] == pc) return false;
    slots[at] = pc;
    return true;
  }
};

constinit Places known = {};
constinit Places seen = {};

}  // namespace

void begin_profile() {
  const Profile& profile = world.area->profile;
  world.profiled = profile.thread_count != 0;
  for (std::uint32_t i = 0; i < profile.place_count && i < kMaxPlaces; ++i) {
    if (profile.places[i] != 0) known.add(profile.places[i]);
  }
}

bool is_switching_point(Address pc) { return !world.profiled || known.contains(pc); }

void place_is_shared(Address pc) {
  Profile& profile = world.area->seen;
  if (pc == 0 || profile.place_count == kMaxPlaces || !seen.add(pc)) return;
  profile.places[profile.place_count++] = pc;
}

void keep_place(Address* places, Address pc) {
  for (std::size_t i = 0; i < kPlacesKept; ++i) {
    if (places[i] == pc) return;
    if (places[i] == 0) {
      places[i] = pc;
      return;
    }
  }
}

void lock_is_used(Object& lock, Task& task, Address pc) {
  if (lock.shared) return place_is_shared(pc);
  keep_place(lock.places, pc);
  if (lock.first == nullptr) lock.first = &task;
  if (lock.first == &task) return;
  lock.shared = true;
  for (const Address place : lock.places) place_is_shared(place);
}

// Whether the order of this step and those of others can make a difference. That a thread begins,
// makes another or ends does not: what it does then, or before, does.
bool is_telling(const Turn& turn) {
  return turn.kind != Kind::kStart && turn.kind != Kind::kCreate && turn.kind != Kind::kJoin &&
         turn.kind != Kind::kExit;
}

namespace {

void log_step(const Task& task) {
  Log& log = world.area->log;
  if (world.area->settings.log == 0 || log.count == kMaxLogged || world.task_count == 1) return;
  const bool inside = task.block.source != BlockSource::kNone && !task.block.waits;
  Step& step = log.steps[log.count++];
  step = {.thread = task.number,
          .kind = task.next.kind,
          .block = inside ? task.block.number : 0,
          .object = id(task.next.object),
          .place = task.place};
  std::uint32_t count = 0;
  for (const Address lock : task.held) {
    if (lock != 0 && count < kLoggedLocks) step.held[count++] = lock;
  }
}

}  // namespace

void profile_step(Task& task) {
  task.has_told = is_telling(task.next);
  if (!task.has_told) return;
  Profile& profile = world.area->seen;
  ++profile.steps;
  ++task.telling_steps;
  if (task.number < kMaxProfiled) profile.thread_steps[task.number] = task.telling_steps;
  log_step(task);
}

void profile_task(const Task& task, std::uint32_t creator) {
  Profile& profile = world.area->seen;
  if (task.number >= kMaxProfiled) return;
  profile.thread_count = task.number + 1;
  profile.creators[task.number] = creator;
}

namespace {

// By whom each thread was joined, and one more.
constinit std::uint32_t joiners[kMaxProfiled] = {};

}  // namespace

void task_joined(const Task& task, std::uint32_t thread) {
  if (thread < kMaxProfiled) joiners[thread] = task.number + 1;
}

bool has_joined(const Task& task, std::uint32_t thread) {
  return thread < kMaxProfiled && joiners[thread] == task.number + 1;
}

// What it has before it, with the threads that it has still to make. At least 1.
std::uint64_t expected_work(const Task& task) {
  const Profile& profile = world.area->profile;
  if (task.number >= kMaxProfiled || task.number >= profile.thread_count) return 1;
  const std::uint32_t all = profile.thread_steps[task.number];
  std::uint64_t work = task.telling_steps < all ? all - task.telling_steps : 1;
  // Threads are numbered in the order in which they are made, so their makers come before.
  bool to_come[kMaxProfiled] = {};
  for (std::uint32_t i = world.tasks_made; i < profile.thread_count && i < kMaxProfiled; ++i) {
    const std::uint32_t creator = profile.creators[i];
    to_come[i] = creator == task.number || (creator < i && to_come[creator]);
    if (to_come[i]) work += profile.thread_steps[i];
  }
  return work;
}

}  // namespace tomos::schedule
