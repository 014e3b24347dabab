// Virtual time: what the clocks of a controlled process show.
//
// Time passes with steps, and jumps when nobody can go on before somebody's time is over. So a
// time-out is a choice of the schedule and not of the machine, sleeps cost nothing, and what a
// program does with the time of day is the same again in every run.
#pragma once

#include <time.h>

#include <cstdint>

#include "schedule/control.h"

namespace tomos::schedule {

void begin_clock();
// Whether this clock is virtual here; otherwise it is the kernel's to tell.
bool is_virtual(clockid_t clock);
timespec clock_now(clockid_t clock);
// The moment at which the clock shows `time`; from now for `for_`.
std::uint64_t deadline_at(clockid_t clock, const timespec* time);
std::uint64_t deadline_after(const timespec* time);
std::uint64_t deadline_after_ms(int milliseconds);  // negative: never
// What is left until then.
timespec left_until(std::uint64_t deadline);

}  // namespace tomos::schedule
