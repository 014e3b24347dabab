// The report as one page for a browser: no script, nothing from elsewhere, to be kept and mailed.
#pragma once

#include <string>

#include "report/report.h"

namespace tomos {

std::string print_html(const Report& report);

}  // namespace tomos
