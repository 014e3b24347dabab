// The report for people: what happened, where, why it is wrong, how to fix it, how to see it again.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/report.h"

namespace tomos {

struct TextStyle {
  bool color = false;
  std::size_t columns = 100;
};

// What a report says, in pieces.
struct TextParts {
  struct One {
    std::size_t number = 0;  // variants of a finding have numbers, too
    std::string id;
    std::string heading;
    std::string message;
    std::string body;
  };
  std::string before;  // the findings: what was inferred
  std::vector<One> findings;
  std::string after;  // notes and verdicts
};

TextParts text_parts(const Report& report, const TextStyle& style);

std::string print_text(const Report& report, const TextStyle& style);

}  // namespace tomos
