// `tomos model --from-cpp`: a C++ test driver as a Boolean program.
#pragma once

#include <string>
#include <vector>

#include "cli/sources.h"
#include "model/program.h"

namespace tomos {

struct DriverProgram {
  model::Program program;          // with the names and places of the C++ source
  std::string text;                // as it was before that
  std::vector<std::string> notes;  // what was abstracted
  bool assertions = true;          // all of them are in the program
};

Result<DriverProgram> load_driver(const SourceOptions& sources);

}  // namespace tomos
