// What the trials of a campaign have in common, and what a few of them tell the others.
//
// Most of what a program does makes no difference to other threads. Before the campaign some trials
// learn where it does (schedule/profile.cpp); the others switch only there. What they learn depends
// on the program alone, so that a seed stands for the same trial tomorrow.
#pragma once

#include <cstdint>
#include <memory>

#include "campaign/aims.h"
#include "campaign/runner.h"
#include "campaign/settings.h"
#include "campaign/trial.h"
#include "event/error.h"

namespace tomos::campaign {

struct Plan {
  Settings settings;
  std::shared_ptr<const schedule::Profile> profile;  // null: nothing was learnt
  Aims aims;

  Order order(std::uint64_t seed) const;
};

// Some trials with the settings. Nothing is learnt from a program that does not end in time.
Result<Plan> make_plan(Runner& runner, const Settings& settings);

}  // namespace tomos::campaign
