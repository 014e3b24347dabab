// The report for people: what happened, where, why it is wrong, how to fix it, how to see it again.
#pragma once

#include <cstddef>
#include <string>

#include "report/report.h"

namespace tomos {

struct TextStyle {
  bool color = false;
  std::size_t columns = 100;
};

std::string print_text(const Report& report, const TextStyle& style);

}  // namespace tomos
