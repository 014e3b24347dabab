// The life of threads and of the process under control.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "runtime/interpose.h"
#include "schedule/clock.h"
#include "schedule/task.h"

extern "C" {
// NOLINTNEXTLINE(bugprone-reserved-identifier): no name that a program has
[[gnu::visibility("default")]] constinit char __tomos_scheduler = 1;
// The same as this copy has it.
[[gnu::alias("__tomos_scheduler"), gnu::visibility("hidden")]] extern char tomos_own_scheduler;
}

namespace tomos::schedule {

namespace {

Task* make_task() {
  auto* const task = static_cast<Task*>(runtime::map_memory(sizeof(Task)));
  if (task == nullptr) return nullptr;
  task->number = world.tasks_made++;
  return task;
}

void add_task(Task& task) {
  world.tasks[world.task_count++] = &task;
  world.area->trial.threads = world.tasks_made;
}

void remove_task(const Task& task) {
  std::size_t i = 0;
  while (i < world.task_count && world.tasks[i] != &task) ++i;
  if (i == world.task_count) return;
  for (--world.task_count; i < world.task_count; ++i) world.tasks[i] = world.tasks[i + 1];
}

}  // namespace

// --- Threads.

Task* task_made(Address entry, Address pc) {
  const Place place = place_at(pc);
  const AtWork at_work;
  if (world.task_count == kMaxTasks) return nullptr;
  Task* const task = make_task();
  if (task == nullptr) return nullptr;
  task->state = State::kNew;
  task->next = {.kind = Kind::kStart};
  if (task->number < kMaxThreadInfos) {
    world.area->trial.thread_infos[task->number] = {
        .creator = self->number, .unused = 0, .entry = entry, .created = place};
  }
  task->created_by = self->number;
  task->created_at = world.area->trial.steps;
  profile_task(*task, self->number);
  task_joined_in(*task);
  start_watch();
  return task;
}

void task_not_made(Task* task) {
  const AtWork at_work;
  task->state = State::kEnded;
}

void task_exists(Task* task, std::uint64_t handle) {
  const AtWork at_work;
  task->handle = handle;
  add_task(*task);
}

void task_starts(Task* task) {
  self = task;
  ++task->at_work;
  task->tid = static_cast<std::uint32_t>(raw_call(SYS_gettid));
  park(*task);
  world.gate.lock();
  count_step(*task);
  world.gate.unlock();
  --task->at_work;
}

void adopt_thread() {
  never_controlled = true;  // until it is
  runtime::watch_end_of_thread();
  world.gate.lock();
  Task* const task = world.task_count == kMaxTasks ? nullptr : make_task();
  if (task != nullptr) {
    task->state = State::kOutside;
    task->handle = pthread_self();
    task->tid = static_cast<std::uint32_t>(raw_call(SYS_gettid));
    add_task(*task);
    task_joined_in(*task);
    let_go(*task, "a thread came from nowhere");
  }
  world.gate.unlock();
  self = task;
  never_controlled = task == nullptr;
}

void task_ends() {
  Task* const task = self;
  take_turn({.kind = Kind::kExit});
  {
    const AtWork at_work;
    task->state = State::kEnded;
    remove_task(*task);
    // The process's first thread stays, as the process itself.
    if (task->number != 0) world.leaving = task->tid;
    if (world.task_count == 0) {
      world.running = nullptr;
      stop_watch();
    } else {
      dispatch(nullptr);
    }
  }
  self = nullptr;
  never_controlled = true;
}

// What a thread does behind its end others could notice: its memory goes back to be used again, its
// stack is free only when the kernel says so. Without this, the same seed would give other
// addresses now and then.
void see_off() {
  const std::uint32_t tid = world.leaving.exchange(0);
  const long process = raw_call(SYS_getpid);
  // Destructors that run behind ours could wait for who is waiting here.
  constexpr int kMostTries = 2000;
  constexpr timespec kMoment = {.tv_sec = 0, .tv_nsec = 50'000};
  for (int tries = 0; tries < kMostTries; ++tries) {
    if (tid == 0 || raw_call(SYS_tgkill, process, tid, 0) < 0) return;
    if (tries < 100) {
      raw_call(SYS_sched_yield);
    } else {
      raw_call(SYS_nanosleep, reinterpret_cast<long>(&kMoment));
    }
  }
  const AtWork at_work;
  let_go(*self, "a thread that has ended does not leave");
}

Task* task_of(std::uint64_t handle) {
  const AtWork at_work;
  for (std::size_t i = 0; i < world.task_count; ++i) {
    if (world.tasks[i]->handle == handle) return world.tasks[i];
  }
  return nullptr;
}

Outcome turn_to_join(Task* task, const Turn& turn) {
  self->joins = task;
  const Outcome outcome = take_turn(turn);
  if (task != nullptr && outcome == Outcome::kGo) task_joined(*self, task->number);
  return outcome;
}

void task_cancelled(std::uint64_t handle) {
  Task* const task = task_of(handle);
  const AtWork at_work;
  if (task != nullptr) task->cancelled = true;
}

// --- Processes.

void before_fork() {
  if (world.area != nullptr) world.gate.lock();
}

void after_fork_in_parent() {
  if (world.area == nullptr) return;
  world.area->trial.flags |= kForked;
  world.gate.unlock();
}

// The child goes on alone, with a schedule of its own that is on nobody's record.
void after_fork_in_child() {
  if (world.area == nullptr) return;
  auto* const area = static_cast<Area*>(runtime::map_memory(sizeof(Area)));
  world.gate.unlock();
  if (area == nullptr || self == nullptr) {
    self = nullptr;
    world.area = nullptr;
    return;
  }
  area->settings = world.area->settings;
  area->settings.choice_count = 0;
  world.area = area;
  world.tasks[0] = self;
  world.task_count = 1;
  world.running = self;
  self->tid = static_cast<std::uint32_t>(raw_call(SYS_gettid));
  forget_watch();
}

void process_ends() {
  if (world.area == nullptr) return;
  world.area->trial.flags |= kAtEnd;
  record_modules();
}

// --- Setting up.

namespace {

Area* map_area(const char* path) {
  const long file = raw_call(SYS_open, reinterpret_cast<long>(path), O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  const long start = raw_call(SYS_mmap, 0, sizeof(Area), PROT_READ | PROT_WRITE, MAP_SHARED, file);
  raw_call(SYS_close, file);
  if (start < 0 && start > -4096) return nullptr;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): it is one, as the kernel gives it
  auto* area = reinterpret_cast<Area*>(start);
  if (area->magic != kMagic || area->size != sizeof(Area)) return nullptr;
  const auto process = static_cast<std::uint32_t>(raw_call(SYS_getpid));
  std::uint32_t nobody = 0;
  if (area->trial.started.compare_exchange_strong(nobody, process)) return area;
  if (nobody == process) {  // it has begun another program (exec)
    __builtin_memset(static_cast<void*>(&area->trial), 0, sizeof(area->trial));
    area->trial.started = process;
    return area;
  }
  // Another process than the one whose schedule is on record.
  auto* const own = static_cast<Area*>(runtime::map_memory(sizeof(Area)));
  if (own != nullptr) own->settings = area->settings;
  return own;
}

// A program may have been linked with one copy of this library and be started with another. The
// first is the one whose functions are called.
bool is_first_copy() {
  const void* const first = dlsym(RTLD_DEFAULT, "__tomos_scheduler");
  return first == nullptr || first == &tomos_own_scheduler;
}

}  // namespace

void set_up() {
  const char* path = getenv("TOMOS_SCHEDULE");  // NOLINT(concurrency-mt-unsafe): nothing sets it
  if (path == nullptr || *path == 0 || world.area != nullptr || !is_first_copy()) return;
  Area* const area = map_area(path);
  if (area == nullptr) return;
  // Twice the room: for those that can go on, too.
  auto* const tables = static_cast<Task**>(runtime::map_memory(2 * kMaxTasks * sizeof(Task*)));
  if (tables == nullptr) return;
  world.tasks = tables;
  enabled_tasks = tables + kMaxTasks;
  world.area = area;
  accesses_wanted = area->settings.accesses != 0;
  world.replaying = area->settings.strategy == Strategy::kReplay;
  world.chance.seed(mixed(area->settings.seed));
  world.step_time = std::uint64_t{1000}
                    << world.chance.below(11);  // a microsecond to a millisecond
  world.impatient = world.chance.below(2) == 0;
  begin_clock();
  Task* const task = make_task();
  if (task == nullptr) return;
  task->state = State::kRunning;
  task->handle = pthread_self();
  task->tid = static_cast<std::uint32_t>(raw_call(SYS_gettid));
  add_task(*task);
  world.running = task;
  begin_profile();
  profile_task(*task, 0);
  begin_strategy();
  task_joined_in(*task);
  watch_fatal_signals();
  self = task;
}

}  // namespace tomos::schedule
