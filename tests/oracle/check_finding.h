// Whether a finding tells the truth: that its cycle is a cycle, made of what really happened.
#pragma once

#include <string>

#include "brute_force.h"
#include "report/finding.h"

namespace tomos::oracle {

// What is wrong with the finding; empty if nothing is. The events of the trace must be numbered by
// number_events.
std::string check_finding(const Finding& finding, const Order& order);

// All of a finding as text: to show it, and to compare two.
std::string describe(const Finding& finding);

}  // namespace tomos::oracle
