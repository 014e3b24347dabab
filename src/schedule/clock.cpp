#include "schedule/clock.h"

#include <sys/stat.h>

#include "schedule/task.h"

namespace tomos::schedule {

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// What the clocks show at the start. The time of day is that of the program's file: recent, and the
// same in every run.
constinit std::uint64_t real_base = 0;
constexpr std::uint64_t kMonotonicBase = 100'000 * kSecond;

// A clock that is asked again and again is being waited for.
constexpr std::uint32_t kAsksPerTurn = 64;
constinit thread_local std::uint32_t asks = 0;

bool is_real(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

std::uint64_t base_of(clockid_t clock) { return is_real(clock) ? real_base : kMonotonicBase; }

timespec as_timespec(std::uint64_t nanoseconds) {
  return {.tv_sec = static_cast<time_t>(nanoseconds / kSecond),
          .tv_nsec = static_cast<long>(nanoseconds % kSecond)};
}

std::uint64_t as_nanoseconds(const timespec& time) {
  if (time.tv_sec < 0) return 0;
  constexpr std::uint64_t kMost = kNever / 4 / kSecond;
  const auto seconds = static_cast<std::uint64_t>(time.tv_sec);
  return (seconds < kMost ? seconds : kMost) * kSecond + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

void begin_clock() {
  struct stat about = {};
  constexpr std::uint64_t kSomeDay = 1'750'000'000;
  const long error =
      raw_call(SYS_stat, reinterpret_cast<long>("/proc/self/exe"), reinterpret_cast<long>(&about));
  real_base = (error == 0 ? static_cast<std::uint64_t>(about.st_mtim.tv_sec) : kSomeDay) * kSecond;
}

bool is_virtual(clockid_t clock) {
  return is_real(clock) || clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW ||
         clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_BOOTTIME;
}

timespec clock_now(clockid_t clock) {
  if (controlled() && ++asks % kAsksPerTurn == 0) take_turn({.kind = Kind::kYield});
  world.gate.lock();
  world.time += world.step_time;
  const std::uint64_t now = world.time;
  world.gate.unlock();
  return as_timespec(base_of(clock) + now);
}

std::uint64_t deadline_at(clockid_t clock, const timespec* time) {
  if (time == nullptr) return kNever;
  const std::uint64_t moment = as_nanoseconds(*time);
  const std::uint64_t base = base_of(clock);
  return moment < base ? 0 : moment - base;
}

std::uint64_t deadline_after(const timespec* time) {
  return time == nullptr ? kNever : world.time + as_nanoseconds(*time);
}

std::uint64_t deadline_after_ms(int milliseconds) {
  if (milliseconds < 0) return kNever;
  return world.time + static_cast<std::uint64_t>(milliseconds) * 1'000'000;
}

timespec left_until(std::uint64_t deadline) {
  return as_timespec(deadline > world.time ? deadline - world.time : 0);
}

}  // namespace tomos::schedule
