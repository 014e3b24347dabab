// Time: clocks and sleeps, which are virtual while the process is under control; and what lets
// others go first.
#include <errno.h>
#include <sched.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "runtime/interpose.h"
#include "schedule/clock.h"
#include "schedule/operations.h"

using namespace tomos::runtime;
namespace schedule = tomos::schedule;

namespace {

bool is_time(const timespec* time) {
  return time != nullptr && time->tv_sec >= 0 && time->tv_nsec >= 0 &&
         time->tv_nsec < 1'000'000'000;
}

}  // namespace

TOMOS_INTERPOSE(int, clock_gettime, clockid_t clock, timespec* now) {
  if (!schedule::controlled() || !schedule::is_virtual(clock)) {
    return REAL(clock_gettime)(clock, now);
  }
  *now = schedule::clock_now(clock);
  return 0;
}
TOMOS_INTERPOSE(int, gettimeofday, timeval* now, void* zone) {
  if (!schedule::controlled()) return REAL(gettimeofday)(now, zone);
  const timespec time = schedule::clock_now(CLOCK_REALTIME);
  *now = {.tv_sec = time.tv_sec, .tv_usec = time.tv_nsec / 1000};
  return 0;
}
TOMOS_INTERPOSE(time_t, time, time_t* now) {
  if (!schedule::controlled()) return REAL(time)(now);
  const time_t seconds = schedule::clock_now(CLOCK_REALTIME).tv_sec;
  if (now != nullptr) *now = seconds;
  return seconds;
}
TOMOS_INTERPOSE(int, timespec_get, timespec* now, int base) {
  if (!schedule::controlled() || base != TIME_UTC) return REAL(timespec_get)(now, base);
  *now = schedule::clock_now(CLOCK_REALTIME);
  return base;
}

TOMOS_INTERPOSE(int, nanosleep, const timespec* time, timespec* left) {
  if (!schedule::controlled() || !is_time(time)) return REAL(nanosleep)(time, left);
  if (schedule::sleep_until(schedule::deadline_after(time), left, TOMOS_CALLER())) return 0;
  errno = EINTR;
  return -1;
}
TOMOS_INTERPOSE(int, clock_nanosleep, clockid_t clock, int flags, const timespec* time,
                timespec* left) {
  if (!schedule::controlled() || !schedule::is_virtual(clock) || !is_time(time)) {
    return REAL(clock_nanosleep)(clock, flags, time, left);
  }
  const bool absolute = (flags & TIMER_ABSTIME) != 0;
  const std::uint64_t deadline =
      absolute ? schedule::deadline_at(clock, time) : schedule::deadline_after(time);
  return schedule::sleep_until(deadline, absolute ? nullptr : left, TOMOS_CALLER()) ? 0 : EINTR;
}
TOMOS_INTERPOSE(int, usleep, useconds_t microseconds) {
  if (!schedule::controlled()) return REAL(usleep)(microseconds);
  const timespec time = {.tv_sec = microseconds / 1'000'000,
                         .tv_nsec = static_cast<long>(microseconds % 1'000'000) * 1000};
  if (schedule::sleep_until(schedule::deadline_after(&time), nullptr, TOMOS_CALLER())) return 0;
  errno = EINTR;
  return -1;
}
TOMOS_INTERPOSE(unsigned, sleep, unsigned seconds) {
  if (!schedule::controlled()) return REAL(sleep)(seconds);
  const timespec time = {.tv_sec = seconds, .tv_nsec = 0};
  timespec left = {};
  if (schedule::sleep_until(schedule::deadline_after(&time), &left, TOMOS_CALLER())) return 0;
  return static_cast<unsigned>(left.tv_sec) + (left.tv_nsec != 0 ? 1 : 0);
}
TOMOS_INTERPOSE(int, thrd_sleep, const timespec* time, timespec* left) {
  if (!schedule::controlled() || !is_time(time)) return REAL(thrd_sleep)(time, left);
  return schedule::sleep_until(schedule::deadline_after(time), left, TOMOS_CALLER()) ? 0 : -1;
}

TOMOS_INTERPOSE(int, sched_yield) {
  if (!schedule::controlled()) return REAL(sched_yield)();
  schedule::take_turn({.kind = schedule::Kind::kYield, .pc = TOMOS_CALLER()});
  return 0;
}
TOMOS_INTERPOSE(void, thrd_yield) {
  if (!schedule::controlled()) return REAL(thrd_yield)();
  schedule::take_turn({.kind = schedule::Kind::kYield, .pc = TOMOS_CALLER()});
}
