// The report for scripts: the JSON of docs/check.md.
#pragma once

#include <string>

#include "report/report.h"

namespace tomos {

std::string print_json(const Report& report);

}  // namespace tomos
