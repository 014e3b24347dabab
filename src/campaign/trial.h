// One run of the program under a schedule, and what came of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "schedule/area.h"

namespace tomos::campaign {

// What is to be run.
struct Order {
  bool scheduled = true;  // false: natively, as if it had been started without us
  schedule::Settings settings = {};
  std::vector<schedule::Choice> choices;             // for Strategy::kReplay
  std::shared_ptr<const schedule::Profile> profile;  // null: all is a switching point
  schedule::Aim aim = {};                            // for Strategy::kAim
  // For Strategy::kFollow.
  std::vector<schedule::Stretch> stretches;
  std::vector<schedule::CodeRange> ranges;
  bool keep_choices = false;  // those that the trial will make are wanted
};

enum class End : std::uint8_t {
  kExited,
  kSignalled,
  kDeadlocked,  // nobody could go on
  kTimedOut,    // killed by us: it did not end in time
  kStopped,     // killed by us: nobody wants to know
};

// A copy of what the area held in the end. The program can write anything there: all counts are
// within bounds, all texts end.
struct Trial {
  schedule::Settings settings = {};
  End end = End::kExited;
  int exit_status = 0;   // of kExited
  int signal = 0;        // of kSignalled
  bool started = false;  // the scheduler was there

  std::uint32_t flags = 0;
  std::uint64_t steps = 0;
  std::uint64_t switches = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t hash = 0;
  std::uint32_t threads = 0;
  std::uint32_t doubtful = 0;
  std::uint32_t warnings = 0;
  std::uint64_t diverged_at = 0;
  std::uint64_t followed = 0;  // stretches, of Strategy::kFollow
  std::string let_go;

  std::vector<schedule::Violation> violations;
  std::vector<schedule::Waiting> waiting;
  std::vector<schedule::Module> modules;
  std::vector<schedule::ThreadInfo> thread_infos;
  std::uint32_t signal_thread = 0;
  std::uint64_t signal_address = 0;
  schedule::Place signal_place = {};
  std::vector<schedule::Choice> choices;
  std::shared_ptr<const schedule::Profile> seen;
  std::vector<schedule::Step> log;  // if the settings asked for it
  std::string output;               // the last of what it printed

  bool is(schedule::Flags flag) const { return (flags & flag) != 0; }
  // The same settings will give the same schedule.
  bool is_repeatable() const { return !is(schedule::kLetGo) && !is(schedule::kForked); }
};

}  // namespace tomos::campaign
