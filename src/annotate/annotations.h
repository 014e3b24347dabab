// What was inferred, as annotations of the source: which ones, where they stand, and how the locks
// in them are spelled there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/program.h"

namespace tomos::annotate {

struct Annotation {
  enum class Kind : std::uint8_t {
    kGuardedBy,
    kPtGuardedBy,
    kRequires,
    kRequiresShared,  // a reader's lock is enough
    kExcludes,
    kAcquires,
    kReleases,
    kNoAnalysis,  // Clang cannot follow the function
    kComment,
  };
  Kind kind = Kind::kComment;
  std::string argument;  // the lock as the source spells it, or the whole comment
  std::string of;        // what is annotated, for people
  core::Position at;     // behind the declarator, or before the declaration
  bool of_lambda = false;
  std::string left_out;  // why; empty: it stands
};

// "guarded_by"; of a comment nothing.
std::string_view attribute_of(Annotation::Kind kind);

// What the source declares itself. To be asked before anything is inferred.
struct Given {
  struct Counts {
    std::size_t required = 0;
    std::size_t acquired = 0;
    std::size_t released = 0;
    std::size_t excluded = 0;
  };
  std::vector<Counts> methods;  // of all classes, then the functions
};
Given given_by(const core::Program& program);

// The atomicity of a method for a caller that holds what it requires.
struct Atomicity {
  core::Basic basic = core::Basic::kCompound;
  bool is_declared = false;
};

// What was inferred beyond what is given, in the order of the program. The atomicities are those of
// the methods of all classes, then of the functions; none: they are not known.
std::vector<Annotation> annotations_of(const core::Program& program, const Given& given,
                                       const std::vector<Atomicity>& atomicities);

}  // namespace tomos::annotate
