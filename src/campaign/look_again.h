// A second look at a finding: its first trial once more, and the simplest schedule that shows it.
#pragma once

#include <optional>
#include <string>

#include "campaign/found.h"
#include "campaign/minimise.h"
#include "campaign/plan.h"
#include "campaign/runner.h"
#include "event/error.h"

namespace tomos::campaign {

struct SecondLook {
  bool again = true;              // the same seed shows it again, as far as is known
  std::optional<Shown> schedule;  // that shows it, as simple as could be made
};

// Runs the trial in which the item was first seen again, and replays its schedule; the item's
// finding becomes what that shows, so that it does not depend on which of several trials ended
// first.
Result<SecondLook> look_again(Runner& runner, Found& found, Found::Item& item, const Plan& plan,
                              const Budget& budget);

// "2: T1 after 5 steps, for T2; main after 12 steps, for T1".
std::string describe_preemptions(const std::vector<schedule::Choice>& choices);

}  // namespace tomos::campaign
