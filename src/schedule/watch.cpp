// The watch: a thread of the scheduler's own that does what nobody with the turn can do.
//
// It lets go of threads that have the turn and do not come back: one that sleeps in the kernel, in
// a call that the scheduler does not know, or one that computes or spins. And while nobody has the
// turn it waits for the world outside: for input, for threads that are outside.
#include <pthread.h>
#include <signal.h>

#include "runtime/interpose.h"
#include "schedule/task.h"

TOMOS_REAL(int, pthread_create, pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

namespace tomos::schedule {

namespace {

std::atomic<std::uint32_t> wake_word = 0;
std::atomic<bool> stopped = false;
constinit bool watching = false;

constexpr long kMillisecond = 1'000'000;
// How long a thread may sleep in the kernel with the turn. Programs that wait often in ways that
// are not known take that long each time.
constexpr std::uint64_t kAsleep = 6;
// How much processor time it may use between two steps, unless told otherwise.
constexpr std::uint64_t kPatience = 100;

std::uint64_t real_milliseconds() {
  timespec now = {};
  raw_call(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(&now));
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

std::size_t append(char* to, std::size_t at, const char* text) {
  while (*text != 0) to[at++] = *text++;
  to[at] = 0;
  return at;
}

std::size_t append(char* to, std::size_t at, std::uint32_t number) {
  char digits[12];
  std::size_t count = 0;
  do {
    digits[count++] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  while (count > 0) to[at++] = digits[--count];
  to[at] = 0;
  return at;
}

long read_of_thread(std::uint32_t tid, const char* file, char* text, std::size_t size) {
  char path[64];
  std::size_t at = append(path, 0, "/proc/self/task/");
  at = append(path, at, tid);
  append(path, at, file);
  const long handle = raw_call(SYS_open, reinterpret_cast<long>(path), 0);
  if (handle < 0) return 0;
  const long length =
      raw_call(SYS_read, handle, reinterpret_cast<long>(text), static_cast<long>(size) - 1);
  raw_call(SYS_close, handle);
  text[length > 0 ? length : 0] = 0;
  return length;
}

// 'R' runs, 'S' sleeps, 'D' waits for a disk.
char kernel_state(std::uint32_t tid) {
  char text[512];
  if (read_of_thread(tid, "/stat", text, sizeof(text)) <= 0) return 'R';
  // Behind the name, which may hold anything, parentheses too.
  const char* last = text;
  for (const char* c = text; *c != 0; ++c) {
    if (*c == ')') last = c;
  }
  return last[0] == ')' && last[1] == ' ' ? last[2] : 'R';
}

// Milliseconds on a processor, so far.
std::uint64_t processor_time(std::uint32_t tid) {
  char text[128];
  if (read_of_thread(tid, "/schedstat", text, sizeof(text)) <= 0) return 0;
  std::uint64_t nanoseconds = 0;
  for (const char* c = text; *c >= '0' && *c <= '9'; ++c) {
    nanoseconds = nanoseconds * 10 + static_cast<std::uint64_t>(*c - '0');
  }
  return nanoseconds / 1'000'000;
}

}  // namespace

std::uint64_t pending_signals(std::uint32_t tid) {
  char text[2048];
  if (read_of_thread(tid, "/status", text, sizeof(text)) <= 0) return 0;
  std::uint64_t pending = 0;
  for (const char* line = text; *line != 0; ++line) {
    // "SigPnd:" are its own, "ShdPnd:" those of the process.
    if (__builtin_strncmp(line, "SigPnd:\t", 8) != 0 &&
        __builtin_strncmp(line, "ShdPnd:\t", 8) != 0)
      continue;
    std::uint64_t bits = 0;
    for (line += 8; *line > ' '; ++line) {
      bits = bits * 16 + static_cast<std::uint64_t>(*line <= '9' ? *line - '0' : *line - 'a' + 10);
    }
    pending |= bits;
    if (*line == 0) break;
  }
  return pending;
}

namespace {

bool could_another_go_on(const Task& running) {
  for (std::size_t i = 0; i < world.task_count; ++i) {
    Task& task = *world.tasks[i];
    if (&task == &running) continue;
    if (task.state == State::kReady && task.next.kind == Kind::kInput) return true;
    if (can_go_on(task) || (task.state == State::kReady && task.next.deadline != kNever))
      return true;
  }
  return false;
}

// What the watch has seen of the thread that has the turn.
struct Seen {
  const Task* task;
  std::uint64_t step;
  std::uint64_t since;
  std::uint64_t processor;
  std::uint32_t asleep;  // how many looks in a row
};

// With the gate held.
void look_at_running(Task& task, Seen& seen) {
  const std::uint64_t now = real_milliseconds();
  if (seen.task != &task || seen.step != world.area->trial.steps) {
    seen = {.task = &task,
            .step = world.area->trial.steps,
            .since = now,
            .processor = processor_time(task.tid),
            .asleep = 0};
    return;
  }
  // In the scheduler it may wait for a thread that ends.
  const bool sleeps = task.at_work == 0 && kernel_state(task.tid) == 'S';
  seen.asleep = sleeps ? seen.asleep + 1 : 0;
  if (now - seen.since < kAsleep || !could_another_go_on(task)) return;
  const bool asleep = seen.asleep > 1;
  const std::uint64_t asked = world.area->settings.patience_ms;
  const std::uint64_t patience = asked == 0 ? kPatience : asked;
  const bool spins = processor_time(task.tid) - seen.processor >= patience;
  if (!asleep && !spins) return;
  char why[100];
  std::size_t at = append(why, 0, "thread ");
  at = append(why, at, task.number);
  append(why, at,
         asleep ? " waits in the kernel for something unknown"
                : " computes or spins for long without synchronising");
  let_go(task, why);
  task.state = State::kOutside;
  dispatch(nullptr);
}

// How long a signal may be on its way.
constexpr std::uint64_t kSignalTime = 300;
constexpr std::uint64_t kTimerTime = 3000;  // and how long a timer may run
constinit std::uint64_t stuck_since = 0;

}  // namespace

bool may_be_woken() {
  if (!world.signals && !world.timers) return false;
  if (!world.stuck) {
    world.stuck = true;
    stuck_since = real_milliseconds();
  }
  return real_milliseconds() - stuck_since < (world.timers ? kTimerTime : kSignalTime);
}

namespace {

// Nobody has the turn. With the gate held.
void look_outside(std::uint64_t& real_time) {
  const std::uint64_t now = real_milliseconds();
  // Outside time passes as it does: whoever waits for input or for a while must not be hurried.
  world.time += (now - real_time) * kMillisecond;
  real_time = now;
  dispatch(nullptr);
}

void* watch(void*) {
  never_controlled = true;
  Seen seen = {};
  std::uint64_t real_time = 0;
  while (!stopped.load()) {
    world.gate.lock();
    const bool nobody = world.running == nullptr && world.task_count > 0;
    if (nobody) {
      if (real_time == 0) real_time = real_milliseconds();
      look_outside(real_time);
    } else {
      real_time = 0;
      if (world.running != nullptr && world.area->settings.debug == 0) {
        look_at_running(*world.running, seen);
      }
    }
    world.gate.unlock();
    const timespec pause = {.tv_sec = 0, .tv_nsec = (nobody ? 1 : 3) * kMillisecond};
    futex_wait(wake_word, 0, &pause);
    wake_word = 0;
  }
  return nullptr;
}

}  // namespace

// The thread blocks all signals: the program's handlers run in the program's threads.
void start_watch() {
  if (watching) return;
  watching = true;
  stopped = false;
  sigset_t all;
  sigset_t before;
  __builtin_memset(&all, 0xff, sizeof(all));
  raw_call(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all),
           reinterpret_cast<long>(&before), 8);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, std::size_t{64} * 1024);
  pthread_t thread = 0;
  REAL(pthread_create)(&thread, &attributes, watch, nullptr);
  pthread_attr_destroy(&attributes);
  raw_call(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&before), 0, 8);
}

void wake_watch() {
  wake_word = 1;
  futex_wake(wake_word);
}

void stop_watch() {
  stopped = true;
  wake_watch();
}

void forget_watch() { watching = false; }

}  // namespace tomos::schedule
