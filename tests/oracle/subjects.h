// What is put to the test: the analyses, and one of them with limits so tight that all that tidies
// up after long traces happens on short ones.
#pragma once

#include <string_view>
#include <vector>

#include "monitor/analyses.h"

namespace tomos::oracle {

struct Subject {
  Analysis analysis;  // under the name that --analysis takes here
  bool whole_cycles =
      true;  // false: it may forget a stretch of a cycle, so its findings are not checked
};

const std::vector<Subject>& subjects();

}  // namespace tomos::oracle
