// A saved schedule: enough to run the program again as it ran when something was found.
//
// Text, one thing a line; '#' starts a comment, a value goes to the end of its line, and in it a
// backslash stands before what could not be written otherwise (\\, \n, \xNN).
//
//     tomos-schedule 1
//     program ./bank
//     argument --accounts=2
//     strategy atomfuzzer          what made it
//     seed 17
//     accesses on
//     pause-probability 0.5
//     depth 3
//     learnt accesses              or locks: only these places were switching points
//     place 5555555561d2
//     shows 9d6e10d669877a91 transfer (T1, bank.cpp:12) is not atomic: ...
//     hash 00c0ffee00c0ffee        of the trial that follows it
//     choices 2
//     thread 1 step 5 next 2 preempts
//     thread 2 step 9 next 1
//
// One that `tomos model --schedule` has written has no choices, but stretches of a run that was
// thought out, and perhaps no program:
//
//     tomos-schedule 1
//     accesses on
//     shows 5d1c... withdraw is not atomic: ...
//     found serializability R-W-R
//     block T1 account.cpp:10:3 withdraw
//     step T1 read account.cpp:12:7 balance 0
//     edge 0 1
//     stretches 3
//     thread 0 until create times 2
//     thread 1 until read account.cpp:12
//     thread 2 until unlock times 2
//
// "found" and what follows it is the violation that this run is (a thread, operation, place,
// variable and number of its block for each step): a program that goes all the way has done it.
//
// The thread goes on until it has done so; then the next line counts. Accesses have a place, that
// of an operation of an atomic (atomic-read, atomic-write) is the line that calls it. Other
// operations (lock, unlock, create, join, wait, notify, semaphore-wait, semaphore-post, barrier,
// once) are in the library's code, and count wherever the thread does them. "call bank.cpp:7" is
// whatever that line calls: the thread comes out of it, or waits there for another.
//
// A choice says: when the thread had done so many steps, another one went on. Where none is made,
// the thread that runs goes on, and if it cannot, the lowest numbered that can.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "campaign/settings.h"
#include "campaign/trial.h"
#include "event/error.h"
#include "report/finding.h"

namespace tomos::campaign {

struct FollowedStretch {
  std::uint32_t thread = 0;
  schedule::Kind kind = schedule::Kind::kNone;
  std::string file;  // of an access; empty: anywhere
  std::uint32_t line = 0;
  std::uint32_t times = 1;

  friend bool operator==(const FollowedStretch&, const FollowedStretch&) = default;
};

// "thread 1 until read account.cpp:12 times 2"
std::string to_text(const FollowedStretch& stretch);

struct ScheduleFile {
  std::vector<std::string> words;  // the program and its arguments
  Settings settings;               // with a strategy
  std::uint64_t seed = 0;
  std::shared_ptr<const schedule::Profile> profile;  // null: all was a switching point
  std::string id;                                    // of the finding that it shows; may be empty
  std::string shows;                                 // in words
  std::uint64_t hash = 0;
  std::vector<schedule::Choice> choices;
  std::vector<FollowedStretch> stretches;  // instead of a seed, a hash and choices
  std::optional<Finding> finding;          // what the program has done after all stretches

  // Not for stretches: see follow().
  Order order() const;
};

std::string to_text(const ScheduleFile& schedule);
// `name` stands in messages: "bug.schedule:12".
Result<ScheduleFile> parse_schedule(std::string_view text, const std::string& name);
Result<ScheduleFile> read_schedule(const std::string& path);

// What follows the stretches in this program, whose code is looked up. An error if the code of one
// is not found.
Result<Order> follow(const ScheduleFile& schedule, const std::string& program);

}  // namespace tomos::campaign
