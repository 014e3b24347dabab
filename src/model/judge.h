// The search, and after a find the search for the shortest run that shows it.
#pragma once

#include "model/program.h"
#include "model/search.h"

namespace tomos::model {

struct Judged {
  SearchResult result;    // of the search that decided
  bool shortest = false;  // no run with fewer steps goes wrong
};

Judged judge(const Program& program, const SearchOptions& options);

}  // namespace tomos::model
