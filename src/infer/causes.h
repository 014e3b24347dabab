// Where a lock goes wrong first. A method that calls one which gives back a lock on one way, and
// not on the other, gets it wrong as well, and so does whoever calls that: it is told once, where
// it begins.
#pragma once

#include <cstddef>
#include <vector>

#include "infer/generate.h"

namespace tomos::infer {

struct Cause {
  const Problem* problem = nullptr;
  std::size_t consequences = 0;  // methods that call it, or one that does, and get the lock wrong
};

// All problems but the consequences of others. Those of methods that only call each other in
// circles are all causes.
std::vector<Cause> find_causes(const std::vector<Problem>& problems);

}  // namespace tomos::infer
