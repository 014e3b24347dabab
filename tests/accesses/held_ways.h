// What is held where, by Clang's own control flow graphs: see held_ways.cpp.
#pragma once

#include <clang/AST/ASTContext.h>

#include <map>
#include <set>
#include <string>

#include "accesses/sources.h"

namespace accesses {

struct HeldLocks {
  std::set<std::string> names;
  bool is_dead = false;  // no way leads there: whatever is said to be held there is

  bool contains(const std::string& lock) const { return is_dead || names.contains(lock); }
};

struct HeldAt {
  std::map<std::string, HeldLocks> uses;  // by the name of the field, the global, or f()
  HeldLocks any;                          // wherever on the line
};

using HeldPlaces = std::map<Place, HeldAt>;

// Of all functions of a unit. Where several use something at one place, what any of them holds.
void note_held(clang::ASTContext& context, HeldPlaces& to);

}  // namespace accesses
