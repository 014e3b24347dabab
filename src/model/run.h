// A run that the search has found, as events and as a finding.
#pragma once

#include <vector>

#include "event/event.h"
#include "event/names.h"
#include "model/program.h"
#include "model/search.h"
#include "report/finding.h"

namespace tomos::model {

struct Run {
  std::vector<Event> events;
  Names names;
};

Run run_of(const Program& program, const SearchResult& result);

// Whether the run took a value that could have been any: `*`.
bool leaves_open(const Program& program, const SearchResult& result);

// What `result`, a failure, has to say.
Finding finding_of(const Program& program, const SearchResult& result, const Run& run);

}  // namespace tomos::model
