// Regions to merge and races, as findings of the report.
#pragma once

#include <vector>

#include "report/finding.h"
#include "tm/anomalies.h"

namespace tomos::tm {

// `section` is what the program has: "transaction", or "critical section".
Finding finding_of(const Program& program, const Traces& traces, const Region& region,
                   const std::string& section);
Finding finding_of(const Program& program, const Traces& traces, const Race& race);

}  // namespace tomos::tm
