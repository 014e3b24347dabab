// What is kept of a translation unit: a core program, and what can be said only when all units are
// known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/annotations.h"
#include "core/program.h"

namespace tomos::cpp {

struct Summary {
  // Constructors are still many: each is named after its class and its parameters, and takes none.
  core::Program program;
  // Classes that are locks, and the core's name for them. Where one is only declared, it looks like
  // any class.
  std::map<std::string, std::string> lock_classes;
  std::set<std::string> unknown_calls;  // of functions that are not the project's
  std::vector<core::AnnotationMacros> macros;
};

// Puts summaries together. Of what is in several of them, the first body, guard and position
// stand: they come from the same header.
class Merger {
 public:
  void add(const Summary& summary);

  // Afterwards. What has no body anywhere is called with anything to be expected of it.
  Summary take();

 private:
  struct Mover;  // from a summary to the whole

  void add_class(const core::Class& made, Mover& mover);
  void combine_constructors(core::Class& of);
  void settle_foreign();
  void name_unknown();
  void rename_locks();

  Summary whole_;
  std::map<std::string, std::size_t> classes_;
  std::map<std::string, std::size_t> functions_;
  std::map<std::string, std::size_t> globals_;
  std::map<std::string, core::Method> foreign_;  // functions that are not the project's in a unit
  std::map<std::string, std::uint32_t> files_;
};

}  // namespace tomos::cpp
