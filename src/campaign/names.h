// Names for what a trial speaks of, from the debugging information of the program.
//
// Addresses mean something only together with the modules of their trial. Here they become places:
// numbers that mean the same code in every trial, whatever addresses it had.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "report/finding.h"
#include "schedule/area.h"
#include "symbols/symbols.h"

namespace tomos::campaign {

using PlaceId = std::uint64_t;  // 0: none

// The modules of one trial.
class TrialModules {
 public:
  PlaceId place(std::uint64_t address) const;  // 0: in no module
  std::vector<PlaceId> stack(const schedule::Place& place) const;

 private:
  friend class Names;
  struct Module {
    std::uint64_t bias;
    std::uint64_t first;
    std::uint64_t end;
    PlaceId base;
  };
  std::vector<Module> modules_;
};

class Names {
 public:
  TrialModules modules(std::span<const schedule::Module> modules);

  // Where the user's code is on this stack of return addresses.
  Location location(std::span<const PlaceId> stack);
  // The function of the user's that it is in; empty if that is not known.
  std::string function(std::span<const PlaceId> stack);
  std::vector<std::string> frames(std::span<const PlaceId> stack);
  // Whether code of the user's stands there, not only what is called by it.
  bool is_users(PlaceId place);
  // From the innermost function on that both stacks are in; the places are those of the first.
  std::vector<PlaceId> common(std::span<const PlaceId> one, std::span<const PlaceId> other);
  // The global variable there; empty if it is none.
  std::string global(PlaceId place);

  // What stands in the way of better names, one sentence each.
  std::vector<std::string> problems() const { return symbols_.problems(); }

 private:
  std::string outermost_function(PlaceId place);  // of those inlined there
  // From the first frame that is worth showing: the user's, or at least the program's.
  std::span<const PlaceId> without_library(std::span<const PlaceId> stack);

  Symbols symbols_;
  std::unordered_map<std::string, PlaceId> bases_;  // by path
  PlaceId program_ = 0;                             // base of the first module
};

}  // namespace tomos::campaign
