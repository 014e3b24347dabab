// `tomos model --from-cpp`: a C++ test driver as a Boolean program.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "campaign/schedule_file.h"
#include "clang/read_driver.h"
#include "cli/sources.h"
#include "model/program.h"
#include "model/search.h"
#include "report/finding.h"

namespace tomos {

struct DriverProgram {
  model::Program program;              // with the names and places of the C++ source
  std::string text;                    // as it was before that
  std::vector<std::string> notes;      // what was abstracted
  bool assertions = true;              // all of them are in the program
  std::set<std::string> atomics;       // variables, by their names in C++
  std::vector<cpp::DriverStep> steps;  // by line of the text
  bool counts = false;                 // it is exact only if no value leaves its range
};

// `counts`: numbers that are counted up and down are kept, in the hope that they stay small.
Result<DriverProgram> load_driver(const SourceOptions& sources, bool counts);

// The run that was found, for `tomos replay`: who goes on, until what. Where a thread is in a
// stretch counts, not how many steps the real program takes to get there. Of a violation of
// atomicity each step ends a stretch, so a program that comes to the end has done them all.
campaign::ScheduleFile schedule_of(const DriverProgram& driver, const model::SearchResult& result,
                                   const Finding& finding);

}  // namespace tomos
