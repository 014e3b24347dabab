// Whether a predicted finding tells the truth.
#pragma once

#include <span>
#include <string>

#include "event/event.h"
#include "report/finding.h"
#include "subjects.h"
#include "truth.h"

namespace tomos::predict {

// What is wrong with it; empty if nothing is. The events of the trace must be numbered by
// number_events.
std::string check_prediction(const Finding& finding, const Subject& subject,
                             std::span<const Event> trace, const Truth& truth);

}  // namespace tomos::predict
