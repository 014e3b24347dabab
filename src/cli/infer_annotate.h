// tomos infer --annotate: what was inferred, written into the sources.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "annotate/annotations.h"
#include "clang/read_cpp.h"
#include "cli/output.h"
#include "core/program.h"
#include "event/error.h"
#include "infer/infer.h"
#include "report/finding.h"

namespace tomos {

struct AnnotateOptions {
  cpp::Options sources;
  bool in_place = false;
  bool quiet = false;
  std::set<std::string> left_out;  // units that do not compile
};

// Writes the patch into the file, else to standard output; or changes the sources. What was done,
// and what could not be, goes to standard error.
Result<void> write_annotations(const AnnotateOptions& options, std::optional<NewFile>& file,
                               const core::Program& program, const annotate::Given& given,
                               const infer::Inference& inference,
                               std::vector<core::AnnotationMacros> macros,
                               const std::vector<Finding>& findings);

}  // namespace tomos
