// Annotates a project: puts what was inferred into its sources, has Clang check the result, and
// helps where Clang sees less than we do, until it has nothing more to say.
//
// Every help takes warnings away and brings no new ones: a function is not analysed
// (NO_THREAD_SAFETY_ANALYSIS), or an annotation is left out. So it ends, and only units with
// warnings are compiled again. (One thing is tried that may bring new ones: that a reader's lock is
// enough for a function. Then all are compiled again.) A guard is worth more than the analysis of a
// few functions, and less than that of many. What we report as a finding is not helped: there Clang
// is right.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "annotate/annotations.h"
#include "core/annotations.h"
#include "core/program.h"
#include "event/error.h"

namespace tomos::annotate {

struct Request {
  const core::Program* program = nullptr;
  std::vector<Annotation> annotations;
  std::vector<core::AnnotationMacros> macros;
  std::set<std::pair<std::string, std::uint32_t>> findings;  // file and line
  std::set<std::string> left_out;                            // units that do not compile anyway
};

struct Annotated {
  struct File {
    std::string path;
    std::string text;
    std::string patch;
  };
  std::vector<File> files;  // that change, in the order of their names
  std::vector<Annotation> annotations;
  std::vector<core::CompilerWarning> warnings;  // that stay: because of findings, or helplessness
  bool annotated_system = false;                // needed for the rest to make sense
};

// What Clang says of the units (none: all) with these texts, by absolute paths, instead of those on
// disk. Whether it sees attributes on the locks of the system, which have none of their own.
using Check = std::function<Result<std::vector<core::CompilerWarning>>(
    const std::map<std::string, std::string>& texts, const std::set<std::string>& units,
    bool annotated_system)>;

Result<Annotated> annotate(Request request, const Check& check);

}  // namespace tomos::annotate
