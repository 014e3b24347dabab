// What is known of locks and new objects on a way to a place in a method.
#pragma once

#include <set>
#include <string>

#include "infer/flow.h"

namespace tomos::infer {

struct Way {  // to a place in a method
  Holds holds;
  std::set<std::string> unshared;  // variables for new objects that only this method knows
  bool reachable = true;

  friend bool operator==(const Way&, const Way&) = default;
};

// Holds it once less; it is held.
void drop(Way& way, LockId lock);
// No: it was the caller's, who has it no longer.
bool give_back(Way& way, LockId lock);

// What is known where two ways meet: no more than on either.
Way meet(const Way& a, const Way& b);

}  // namespace tomos::infer
