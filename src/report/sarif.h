// The report for code hosts and editors: SARIF 2.1.0 (OASIS, 2020).
#pragma once

#include <string>
#include <string_view>

#include "report/report.h"

namespace tomos {

// `version`: of Tomos.
std::string print_sarif(const Report& report, std::string_view version);

}  // namespace tomos
