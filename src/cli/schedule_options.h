// The options of the commands that run programs under a schedule (fuzz, replay).
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "campaign/settings.h"

namespace tomos {

struct ScheduleOptions {
  std::string strategy = "mix";
  double pause_probability = campaign::Settings().pause_probability;
  std::uint32_t depth = campaign::Settings().depth;
  bool no_accesses = false;
  bool no_learning = false;
  bool undeclared = false;
  std::string timeout;  // empty: kTimeout, and more if the program is slow by itself

  campaign::Settings settings() const;
  std::chrono::milliseconds time() const;
};

void declare_schedule(ScheduleOptions& options, CLI::App& app);

// A time as "10m", "30s", "2h" or "500ms"; without a letter: seconds.
CLI::Validator duration();
// Of what duration() has let pass.
std::chrono::milliseconds to_duration(const std::string& text);

// "tomos replay --seed 7 -- ./program": the command that gives a trial again.
std::string replay_command(const ScheduleOptions& options, std::uint64_t seed,
                           const std::vector<std::string>& program);

}  // namespace tomos
